"""`ragassay label-sheet` on the command line: what it says, and what it refuses with status 2."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.made_up_results.workspace import make_workspace
from support.perturbed_folder import ask_again

from ragassay.cli import main


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    made = make_workspace(tmp_path, 6, failures=False)
    judge, writers = made.experiment.judge.model, sorted(made.experiment.questions.quota)
    (made.corpus / "experiment.toml").write_text(
        f'[questions]\nquota = {{ "{writers[0]}" = 6 }}\n'
        f'[answer]\nmodel = "{writers[0]}"\n[judge]\nmodel = "{judge}"\n',
        encoding="utf-8",
    )
    return [str(made.corpus), "--results", str(made.results)]


def test_draw_and_take(folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = tmp_path / "sheet.csv"
    command = ["label-sheet", *folders, "--n", "20", "--kind", "answers", "--criterion", "accuracy"]
    assert main([*command, "--out", str(sheet)]) == 0
    assert "20 things to label" in capsys.readouterr().out
    lines = sheet.read_text(encoding="utf-8").replace("\r\n", "\n")
    assert lines.count("Accuracy of the text as an answer") == 20
    assert main(["label-sheet", *folders, "--take", str(sheet), "--who", "ann"]) == 0
    assert "0 labels by ann, 20 left empty" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--n", "0"], "at least 1"),
        (["--criterion", "beauty"], "no criterion of this experiment"),
        (["--take", "nowhere.csv", "--who", "ann"], "no such file"),
        (["--take", "nowhere.csv"], "needs --who"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(folders: list[str], more: list[str], says: str, capsys) -> None:
    assert main(["label-sheet", *folders, *more]) == 2
    told = capsys.readouterr().err
    assert says in told and "Traceback" not in told


def test_of_perturbed_queries_nothing_is_drawn_which_is_said(folders: list[str], tmp_path: Path, capsys) -> None:
    n = ask_again(Path(folders[2]) / "queries.jsonl")
    sheet = tmp_path / "sheet.csv"
    assert main(["label-sheet", *folders, "--n", "500", "--out", str(sheet)]) == 0
    assert f"note: {n} perturbed questions are left out" in capsys.readouterr().out
    assert len(sheet.read_text(encoding="utf-8").splitlines()) > n and ".case" not in sheet.read_text(encoding="utf-8")
