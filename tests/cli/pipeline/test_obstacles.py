"""What is known to stand in the way is said before anything is paid: all of it by `plan`, and `run` refuses."""

from __future__ import annotations

import json
import shutil
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path

import pytest
from support.json_lines import records
from support.loopback.server import ScriptedServer
from support.small_corpus import answer_everything, edit, make_corpus

from ragassay.cli import main
from ragassay.files import json_line, write_text

AGENT = '\n[[agent]]\nname = "ours"\nkind = "python"\ncallable = "{}"\n'


def no_extra(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(corpus, 'retrievers = ["bm25"]', 'retrievers = ["bm25", "knn"]')
    monkeypatch.setattr("ragassay.models.encoders.find_spec", lambda name: None)


def no_embedding_model(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(corpus, 'retrievers = ["bm25"]', 'retrievers = ["hybrid"]\nembedding = "nobody/nothing"')


def no_opensearch(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("opensearchpy")
    edit(corpus, 'retrievers = ["bm25"]', 'retrievers = ["bm25"]\nengine = "opensearch"\nurl = "http://127.0.0.1:9"')


def no_module(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(corpus, "[compare]", AGENT.format("nowhere_at_all:ask") + "[compare]")


def wrong_signature(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (corpus / "two_arguments.py").write_text("def ask(query, passages):\n    return query\n")
    edit(corpus, "[compare]", AGENT.format("two_arguments:ask") + "[compare]")


def no_evaluators_model(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(corpus, "[compare]", '[evaluate]\njudges = ["golden_similarity"]\n[compare]')
    monkeypatch.setattr("ragassay.models.encoders.find_spec", lambda name: None)


def own_query(corpus: Path, judge: str, **metadata: object) -> None:
    edit(corpus, "[compare]", f'[evaluate]\njudges = ["{judge}"]\n[compare]')
    edit(corpus, "[questions]", '[questions]\nsource = "both"')
    write_text(corpus / "queries.jsonl", json_line({"_id": "q1", "text": "Which pin?", "metadata": metadata}))


def no_schema(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_query(corpus, "json_schema", json_schema={"$schema": 5})


def no_condition(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_query(corpus, "text_matching", conditions="AND AND")


def no_key(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(corpus, "[judge]\nmodel = ", '[judge]\nmodel = "anthropic:claude-sonnet-4-5" # ')


def no_rewriters_key(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rewriting = 'name = "imagined"\nkind = "bm25"\nrewrite = "hyde"\nrewrite_model = "anthropic:m"'
    edit(corpus, "[compare]", f"[[retriever]]\n{rewriting}\n[compare]")


def no_embedding_server(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(corpus, 'retrievers = ["bm25"]', 'retrievers = ["knn"]\nembedding = "openai:e"')
    with (corpus / "experiment.toml").open("a") as stream:
        stream.write('[models."openai:e"]\nbase_url = "http://127.0.0.1:9/v1"\n')


def no_server(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(corpus, "[judge]\nmodel = ", '[judge]\nmodel = "openai:other" # ')
    with (corpus / "experiment.toml").open("a") as stream:
        stream.write('[models."openai:other"]\nbase_url = "http://127.0.0.1:9/v1"\n')


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (no_extra, "knn needs sentence_transformers, which needs the extra 'local'"),
        (no_embedding_model, "embedding model 'nobody/nothing' cannot be loaded: the hub cannot be reached"),
        (no_opensearch, "OpenSearch at http://127.0.0.1:9 does not answer"),
        (no_module, "agent 'ours':"),
        (wrong_signature, "cannot be called with a query's text alone"),
        (no_evaluators_model, "golden_similarity needs sentence_transformers, which needs the extra 'local'"),
        (no_key, "ANTHROPIC_API_KEY is not set"),
        (no_rewriters_key, "ANTHROPIC_API_KEY is not set"),
        (no_embedding_server, "openai:e: nobody answers at http://127.0.0.1:9/v1"),
        (no_schema, "query 'q1': metadata.json_schema is no JSON schema: its $schema is not text"),
        (no_condition, "query 'q1': metadata.conditions: "),
        (no_server, "openai:other: nobody answers at http://127.0.0.1:9/v1 (Connection refused)"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_a_later_stage_lacks_is_said_before_a_call_is_paid(
    spoil: Callable[[Path, pytest.MonkeyPatch], None],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url)
        spoil(corpus, monkeypatch)
        assert main(["plan", "mine"]) == 0
        (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("1. ")]
        assert says in line
        assert main(["run", "mine"]) == 2
        assert says in capsys.readouterr().err.splitlines()[-1]
        assert not server.requests


def test_all_of_it_is_said_at_once_before_a_document_is_read(tmp_path: Path, monkeypatch, capsys):
    corpus = make_corpus(tmp_path / "mine", "openai:m", "http://127.0.0.1:9/v1")
    no_key(corpus, monkeypatch)
    (corpus / "questions.txt").write_text("# none yet\n")
    assert main(["plan", "mine"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3 and "questions.txt: has no question" in lines[0]
    assert "ANTHROPIC_API_KEY" in lines[1] and "http://127.0.0.1:9/v1" in lines[2]
    assert main(["run", "mine"]) == 2 and "ingest" not in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


def test_json_of_a_plan_stays_json_and_the_obstacles_go_beside_it(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.delenv("OPENAI_API_KEY")
    corpus = make_corpus(tmp_path / "mine", "openai:gpt-4o")
    assert main(["plan", str(corpus), "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)[0]["stage"] == "questions"
    assert "1. openai:gpt-4o needs a key and OPENAI_API_KEY is not set" in printed.err


def test_a_full_disk_is_said_before_the_documents_are_read(tmp_path: Path, monkeypatch, capsys):
    make_corpus(tmp_path / "mine", "file:m")
    usage = namedtuple("usage", "total used free")(10**9, 10**9 - 10**6, 10**6)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    assert main(["run", "mine"]) == 2
    said = capsys.readouterr().err
    assert "results/mine: 1 MB are free there, and the documents' text takes about 20 MB; make room" in said


def test_a_run_whose_replies_are_all_there_needs_none_of_it(tmp_path: Path):
    """A finished run is repeated without server and key; a changed setting that asks again needs them."""
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url)
        assert main(["run", "mine"]) == 0
    edit(corpus, "bootstrap = 100", "bootstrap = 101")
    assert main(["run", "mine"]) == 0
    edit(corpus, "k = 3", "k = 2")
    assert main(["run", "mine"]) == 2


def test_a_server_that_refuses_to_list_its_models_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """The scripted server knows no path but its own: GET …/other/models is a 404, which is an answer."""
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", f"{server.base_url}/other")
        assert main(["plan", str(corpus)]) == 0 and "1. " not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("def ask(query, k=3):\n    return query\n", None),
        ("class Ours:\n    def __call__(self, query): ...\nask = Ours()\n", None),
        ("from functools import *\n", None),
        ("def ask(query, meter): ...\n", None),
        ("def ask(query, *, meter): ...\n", None),
        ("@staticmethod\ndef ask(one, two): ...\n", None),
        ("def ask(query, *, passages): ...\n", "ask cannot be called with a query's text alone"),
        ("def ask(): ...\n", "ask cannot be called with a query's text alone"),
        ("async def ask(query): ...\n", "ask is async"),
        ("import not_installed_at_all\ndef ask(query): ...\n", "imports not_installed_at_all, which is not installed"),
        ("def answer(query): ...\n", "has no ask"),
        ("def ask(query:\n", "is not Python"),
    ],
)
def test_the_plan_reads_the_source_of_a_callable_and_runs_nothing_of_it(
    source: str, says: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    corpus = make_corpus(tmp_path / "mine", "file:m", more=AGENT.format("read_only:ask"))
    (corpus / "read_only.py").write_text(f"{source}raise SystemExit('it was run')\n" if says is None else source)
    assert main(["plan", str(corpus)]) == 0
    out = capsys.readouterr().out
    assert says in out if says else "1. " not in out


def test_a_file_of_answers_is_wanted_once_there_are_queries(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    more = '\n[[agent]]\nname = "ours"\nkind = "file"\npath = "ours.jsonl"\n'
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url, more=more)
        assert main(["plan", "mine"]) == 0 and "1. " not in capsys.readouterr().out
        edit(corpus, 'style = "passage"', 'source = "own"\nstyle = "passage"')
        (corpus / "queries.jsonl").write_text('{"_id": "q1", "text": "What resets the board?"}\n')
        assert main(["run", "mine"]) == 2 and not server.requests
    assert "agent 'ours' has no answers yet; answer the queries of mine/queries.jsonl" in capsys.readouterr().err


def test_statuses_tell_what_was_left_out_from_what_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A PDF that cannot be read: 5, with a report. Every call of a stage failing: 6, whether or not it can go on."""
    from support.loopback.behaviours import Behaviour, status

    def answers_fail(number: int, body: dict[str, object]) -> Behaviour:
        return status(400) if "response_format" not in body else answer_everything(number, body)

    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url)
        (corpus / "broken.pdf").write_bytes(b"%PDF-1.4 no more than a beginning")
        assert main(["run", "mine"]) == 5 and "report: results/mine/report.html" in capsys.readouterr().out
    with ScriptedServer("openai", answers_fail) as server:
        make_corpus(tmp_path / "theirs", "openai:m", server.base_url, retries=0)
        assert main(["run", "theirs"]) == 6
        out = capsys.readouterr().out
        assert "every one of the" in out and "--retry-failed" in out
        assert all(row["error"] for row in records(tmp_path / "results/theirs/answers/bm25-rag.jsonl"))
    with ScriptedServer("openai", [status(400)]) as server:
        make_corpus(tmp_path / "none", "openai:m", server.base_url, retries=0)
        assert main(["run", "none"]) == 6 and "there is not a single query" in capsys.readouterr().err
