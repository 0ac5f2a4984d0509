"""`ragassay new`: the models that are named or in reach, written everywhere; where there is none, how to get one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.json_lines import records
from support.loopback.server import ScriptedServer
from support.pdf_maker import make_pdf
from support.small_corpus import answer_everything, page

from ragassay.cli import main
from ragassay.cli.verbs import new as models_in_reach
from ragassay.experiment.reading import load_experiment
from ragassay.models.encoders import OFFLINE_MODEL

NOBODY = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def _with_a_pdf(tmp_path: Path) -> None:
    make_pdf(tmp_path / "a.pdf", [page(1)])


def test_a_model_and_its_address_are_written_everywhere(capsys: pytest.CaptureFixture[str]):
    assert main(["new", "mine", "a.pdf", "--model", "llama3.1:8b", "--base-url", NOBODY]) == 0
    experiment = load_experiment(Path("mine/experiment.toml"))
    assert experiment.model_names() == {"openai:llama3.1:8b"} == set(experiment.models)
    assert experiment.models["openai:llama3.1:8b"].base_url == NOBODY
    out = capsys.readouterr().out
    assert f"before a run: openai:llama3.1:8b: nobody answers at {NOBODY} (Connection refused); start the server" in out


def test_an_address_alone_is_asked_for_its_models(capsys: pytest.CaptureFixture[str]):
    with ScriptedServer("openai", answer_everything) as server:
        assert main(["new", "mine", "a.pdf", "--base-url", server.base_url]) == 0
        assert not server.requests
    assert load_experiment(Path("mine/experiment.toml")).model_names() == {"openai:scripted"}
    assert "before a run" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "no model is in reach: no key is in the environment, and nobody answers at http://127.0.0.1:9 (Ollama)"),
        (["--base-url", NOBODY], f"no model is found at {NOBODY} (Connection refused); start the server there"),
        (["--base-url", "localhost"], "--base-url localhost: an address is such as"),
        (["--base-url", NOBODY, "--model", "file:m"], "--base-url goes with openai: and anthropic:, not with file:m"),
        (["--model", "gpt-4o"], "'gpt-4o' has no known provider"),
        (["--model", "openai:a\x07b"], "a model is named provider:model"),
    ],
)
def test_without_a_model_in_reach_it_is_said_how_to_get_one_and_nothing_is_made(
    options: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setattr(models_in_reach, "OLLAMA", "http://127.0.0.1:9")
    assert main(["new", "mine", "a.pdf", *options]) == 2
    err = capsys.readouterr().err
    assert err.startswith("ragassay: ") and says in err and err.count("\n") == 1
    assert not Path("mine").exists()


def test_a_folder_that_holds_something_is_left_as_it_is(capsys: pytest.CaptureFixture[str]):
    Path("mine").mkdir()
    assert main(["new", "mine", "a.pdf", "--model", "file:m"]) == 0, "an empty folder is as good as none"
    Path("mine/experiment.toml").write_text("# by hand\n")
    assert main(["new", "mine", "a.pdf", "--model", "file:m"]) == 2
    assert Path("mine/experiment.toml").read_text() == "# by hand\n"
    assert capsys.readouterr().err == "ragassay: mine: is there already; name a new folder\n"


def test_only_what_is_installed_is_offered(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    assert main(["new", "whole", "a.pdf", "--model", "file:m"]) == 0
    retrieval = load_experiment(Path("whole/experiment.toml")).retrieval
    assert retrieval.retrievers == ("bm25", "knn", "hybrid")
    assert retrieval.embedding == OFFLINE_MODEL, "the hub is out of reach"
    capsys.readouterr()
    monkeypatch.setattr("ragassay.models.encoders.find_spec", lambda name: None)
    assert main(["new", "plain", "a.pdf", "--model", "file:m"]) == 0
    assert load_experiment(Path("plain/experiment.toml")).retrieval.retrievers == ("bm25",)
    assert "needs the extra 'local'; install it with `pip install \"ragassay[local]\"`" in capsys.readouterr().out


def test_a_served_models_name_cannot_add_to_the_experiment(monkeypatch: pytest.MonkeyPatch):
    names = ["nomic-embed-text", 'b"\n[run]\nretries = 0', "b", "c"]
    monkeypatch.setattr(models_in_reach, "served_models", lambda base_url: names)
    assert main(["new", "mine", "a.pdf", "--base-url", NOBODY]) == 0
    experiment = load_experiment(Path("mine/experiment.toml"))
    assert experiment.model_names() == {"openai:b"} and experiment.run.retries == 5


def test_documents_of_every_kind_are_taken_and_named(capsys: pytest.CaptureFixture[str]):
    Path("b.md").write_text("# Pumps\n\nThe pump is started by the green button.\n", encoding="utf-8")
    Path("questions.txt").write_text("x", encoding="utf-8")
    assert main(["new", "mine", "a.pdf", "questions.txt", "--model", "file:m"]) == 2
    assert "the corpus folder has its own questions.txt" in capsys.readouterr().err
    assert main(["new", "mine", "a.pdf", "b.md", "--model", "file:m"]) == 0
    assert load_experiment(Path("mine/experiment.toml")).ingest.kinds == ("markdown", "pdf")
    assert main(["ingest", "mine"]) == 0
    assert {row["doc"] for row in records(Path("results/mine/pages.jsonl"))} == {"a.pdf", "b.md"}


def test_a_heading_and_a_file_s_name_are_shown_in_one_line_and_written_as_they_are(capsys: pytest.CaptureFixture[str]):
    heading = 'What\n"is"\x7fasked'
    Path("q\x1b[1m.json").write_text(json.dumps([{heading: "Why?"}]))
    options = ["--model", "file:m", "--questions", "q\x1b[1m.json", "--column", f"question={heading}"]
    assert main(["new", "mine", "a.pdf", *options]) == 0
    assert load_experiment(Path("mine/experiment.toml")).questions.columns == {"question": heading}
    said = "q\\x1b[1m.json: 1 question from the column 'What \"is\"\\x7fasked', ids made from the texts\n"
    assert said in capsys.readouterr().out


def test_own_questions_are_the_test_set(monkeypatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr("ragassay.models.encoders.find_spec", lambda name: None)
    Path("Fragen.CSV").write_text("Nr;Was;Antwort\n1;Warum?;Darum\n", encoding="utf-8")
    named = ["new", "mine", "a.pdf", "--model", "file:m", "--questions", "Fragen.CSV", "--column"]
    assert main([*named, "question=Was"]) == 0
    questions = load_experiment(Path("mine/experiment.toml")).questions
    assert (questions.source, questions.columns) == ("own", {"question": "Was"})
    assert Path("mine/questions.csv").read_bytes() == Path("Fragen.CSV").read_bytes()
    assert not Path("mine/questions.txt").exists()
    said = "1 question from the column 'Was', expected answers from 'Antwort', ids from 'Nr'"
    assert said in capsys.readouterr().out
    settings = Path("mine/experiment.toml")
    settings.write_text(settings.read_text().replace("k = 5 ", "k = 1 "))
    assert main(["plan", "mine"]) == 0 and said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--questions", "gone.csv"], "gone.csv: there is no such file"),
        (["--questions", "q.csv"], "q.csv:1: has 'Was', and none of them is known to hold questions"),
        (["--questions", "q.csv", "--column", "Was"], "--column Was is not WHAT=HEADING"),
        (["--questions", "q.csv", "--column", "question=Wie"], "has no column 'Wie' (question)"),
        (["--questions", "twice.csv"], "twice.csv:1: has two columns 'What is it'"),
        (["--questions", "gone.txt"], "gone.txt: there is no such file\n"),
        (
            ["--questions", "q.csv", "--column", "question=Was", "--column", "question=x"],
            "--column question is given tw",
        ),
        (["--questions", "q.csv", "--column", "question=Was", "--column", "id=Was"], "told as question and as id"),
        (["--column", "question=Was"], "--column goes with --questions"),
        (["--questions", "a.pdf"], "a.pdf: is no file of questions"),
        (["--questions", "q.txt"], "q.txt: has no question"),
        (["--questions", "q.txt", "--column", "question=Was"], "--column goes with a table or objects"),
    ],
)
def test_questions_that_cannot_be_read_are_said_and_nothing_is_made(options: list[str], says: str, capsys):
    Path("q.csv").write_text("Was\nWarum?\n")
    Path("q.txt").write_text("# nothing yet\n")
    Path("twice.csv").write_text('"What\nis it","What\nis it"\na,b\n')
    assert main(["new", "mine", "a.pdf", "--model", "file:m", *options]) == 2
    err = capsys.readouterr().err
    assert says in err and err.count("\n") == 1 and not Path("mine").exists()
