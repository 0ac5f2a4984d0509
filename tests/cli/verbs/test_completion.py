"""Completion, as a shell does it: bash reads what is printed and is asked what it would offer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ragassay.cli import main

ASK = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"
_shtab_ragassay
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["completion", "bash"]) == 0
    path = tmp_path / "ragassay.bash"
    path.write_text(capsys.readouterr().out)
    return path


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["agr"], {"agree"}),
        (["rate", "--me"], {"--method"}),
        (["rate", "--method", ""], {"elo", "bradley-terry"}),
        (["run", "cor"], {"corpora"}),
        (["score", "--qrels", "q"], {"qrels.trec"}),
        (["completion", ""], {"bash", "zsh", "tcsh"}),
    ],
)
def test_bash_offers_verbs_options_values_and_files(tmp_path: Path, script: Path, words: list[str], offered: set[str]):
    (tmp_path / "corpora").mkdir()
    (tmp_path / "qrels.trec").touch()
    command = ["bash", "-c", ASK, "bash", str(script), "ragassay", *words]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert set(said.stdout.split()) == offered, said.stderr


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_the_other_shells_have_a_script_of_their_own(shell: str, capsys: pytest.CaptureFixture[str]):
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert "label-sheet" in text and "bradley-terry" in text
    assert ("#compdef ragassay" in text) == (shell == "zsh")
