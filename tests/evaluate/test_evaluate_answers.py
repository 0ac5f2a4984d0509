"""The evaluate stage in a run: what it cannot have is said before anything is paid, and what changed is judged anew."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.json_lines import records
from support.loopback.server import ScriptedServer
from support.plugin import Installed
from support.plugin import plugin as plugin
from support.small_corpus import answer_everything, make_corpus

from ragassay.cli import main
from ragassay.evaluate.judging.judges import PROMPTS

OWN = """\
from ragassay.evaluate.judging.engine.evaluator import Evaluator


class Own(Evaluator):
    name = "own"
    judge = "nobody"

    def steps(self, case):
        return [self.assess(case, VALUE)]
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-not-a-key")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('judges = ["groundednes"]', "there is no judge named 'groundednes'; did you mean 'groundedness'?"),
        ('judges = ["umbrela"]\n[evaluate.settings.umbrela]\nprmpt = "a.md"', "evaluate.settings.umbrela: prmpt"),
        ('judges = ["umbrela"]\n[evaluate.settings.umbrela]\nprompt = "gone.md"', "gone.md: there is no such file"),
        ('judges = ["umbrela"]\n[[evaluate.custom]]\nname = "own"\nprompt = "gone.md"', "gone.md: there is no such"),
        ('judges = ["gone:Own"]', "the module gone cannot be imported"),
    ],
)
def test_what_cannot_be_had_is_said_before_anything_is_paid(tmp_path: Path, capsys, more: str, said: str) -> None:
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url, more=f"[evaluate]\n{more}\n")
        assert main(["run", str(corpus)]) == 2
        assert said in capsys.readouterr().err
        assert not server.requests


def test_a_change_of_any_file_of_one_s_own_is_judged_anew(tmp_path: Path, capsys) -> None:
    """Also of a module inside a package, and of a prompt that is called as one of ours is."""
    more = (
        '[evaluate]\njudges = ["judges_of_ours:Own", "umbrela"]\n[evaluate.settings.umbrela]\nprompt = "umbrela.md"\n'
    )
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "zcorpus", "openai:m", server.base_url, more=more)
        package = corpus / "judges_of_ours"
        package.mkdir()
        (package / "__init__.py").write_text("from judges_of_ours.inner import Own\n")
        (package / "inner.py").write_text(OWN.replace("VALUE", "1.0"))
        ours = PROMPTS / "umbrela_bing.md"
        shutil.copy(ours, corpus / "umbrela.md")
        assert main(["run", str(corpus)]) == 0
        labels = [row["label"] for row in records(tmp_path / "results/zcorpus/judgments.jsonl")]
        assert 1.0 in labels
        capsys.readouterr()
        (package / "inner.py").write_text(OWN.replace("VALUE", "0.5"))
        main(["run", str(corpus)])
        assert "evaluate: running (inner.py changed)" in capsys.readouterr().err
        asked = len(server.requests)
        (corpus / "umbrela.md").write_text((corpus / "umbrela.md").read_text() + "\nOnce more: be strict.\n")
        main(["run", str(corpus)])
        assert "umbrela.md changed" in capsys.readouterr().err
        assert all("be strict" in str(one.body) for one in server.requests[asked:])
        assert len(server.requests) > asked


def test_one_model_for_everything_is_the_evaluators_too(tmp_path: Path, capsys) -> None:
    with ScriptedServer("openai", answer_everything) as server:
        more = '[evaluate]\njudges = ["no_answer"]\nmodel = "anthropic:dear"\n'
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url, more=more)
        assert main(["run", str(corpus), "--model", "openai:m"]) == 0
    rows = records(tmp_path / "results/mine/judgments.jsonl")
    assert rows and {row["judge"] for row in rows} == {"openai:m"}


def test_another_version_of_a_package_judges_anew(tmp_path: Path, capsys, plugin: Installed) -> None:
    with ScriptedServer("openai", answer_everything) as server:
        more = '[evaluate]\njudges = ["words_in_bounds"]\n'
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url, more=more)
        assert main(["run", str(corpus)]) == 0
        capsys.readouterr()
        assert main(["evaluate", str(corpus)]) == 0 and "evaluate: up to date" in capsys.readouterr().err
        plugin.install(version="1.1")
        assert main(["evaluate", str(corpus)]) == 0
    said = 'evaluate: running (evaluate.judges.words_in_bounds: "ragassay-example 1.0" is now "ragassay-example 1.1"'
    assert said in capsys.readouterr().err
