"""`ragassay import` and `ragassay export --to` on RAGElo's layout in small, and answers that bring their passages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from openpyxl import Workbook
from support.json_lines import records, write_lines
from support.small_corpus import make_corpus

from ragassay.cli import main

QUERIES = "qid,query\nq1,What is sei?\nq2,How?\n"
DOCUMENTS = "did,document,qid,agent\nd1,Call sei().,q1,a\nd2,Or cli().,q1,a\nd1,Call sei().,q2,b\n"
ANSWERS = 'qid,agent,answer\nq1,a,"By <script>alert(1)</script>"\nq2,b,=cmd()\n'
GAMES = "qid,agent_a,agent_b,raw_answer,answer,relevance\nWhat is sei?,a,b,because,A,\nHow?,a,b,because,C,\n"


@pytest.fixture
def ragelo(tmp_path: Path) -> Path:
    folder = tmp_path / "ragelo"
    folder.mkdir()
    for name, text in (("queries", QUERIES), ("documents", DOCUMENTS), ("answers", ANSWERS), ("games", GAMES)):
        (folder / f"{name}.csv").write_text(text)
    return folder


def test_ragelo_s_example_is_imported_and_ranked(ragelo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "out"
    assert main(["import", "--from", "ragelo", str(ragelo), "--out", str(out)]) == 0
    said = capsys.readouterr()
    assert "2 queries, 2 passages, 2 answers, 2 rankings, 2 games" in said.out
    assert "games.csv: read as games; not used: relevance" in said.err
    assert [row["answer"] for row in records(out / "answers" / "b.jsonl")] == ["=cmd()"]
    assert records(out / "answers" / "a.jsonl")[0]["passages"] == ["d1", "d2"]
    assert [(row["query_id"], row["winner"]) for row in records(out / "games.jsonl")] == [("q1", "a"), ("q2", "tie")]
    assert main(["rate", "--games", str(out / "games.jsonl"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"]["leader"] == "a"


def test_a_folder_of_workbooks_is_imported(tmp_path: Path):
    book = Workbook()
    for row in (("query", "answer"), ("What is sei?", "A macro."), ("How many?", 2)):
        book.active.append(row)
    (tmp_path / "theirs").mkdir()
    book.save(tmp_path / "theirs" / "ours.xlsx")
    assert main(["import", "--from", "csv", str(tmp_path / "theirs"), "--out", str(tmp_path / "out")]) == 0
    assert [row["answer"] for row in records(tmp_path / "out" / "answers" / "ours.jsonl")] == ["A macro.", "2"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("answers", "qid,agent,answer\nq9,a,x\n", "answers.csv:2: query 'q9' is in no file of queries"),
        (
            "documents",
            "did,document,qid,agent\nd1,x,q1,a\nd1,y,q1,b\n",
            "documents.csv:3: passage 'd1' has another text",
        ),
        ("answers", "qid,agent,answer\nq1,a,x\nq1,a,y\n", "answers.csv:3: a second answer of a to 'q1'"),
        ("other", "x,y\n1,2\n", "other.csv: has the columns x, y; RAGElo's are queries (qid, query)"),
    ],
)
def test_a_file_that_cannot_be_used_leaves_nothing_behind(ragelo: Path, tmp_path: Path, capsys, name, text, said):
    (ragelo / f"{name}.csv").write_text(text)
    assert main(["import", "--from", "ragelo", str(ragelo), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["ragelo"]


def test_what_is_exported_can_be_imported_again(ragelo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    main(["import", "--from", "ragelo", str(ragelo), "--out", str(tmp_path / "one")])
    for kind in ("beir", "trec", "ragas"):
        assert main(["export", str(tmp_path / "one"), "--to", kind, "--out", str(tmp_path / kind)]) == 0
        again = ["import", "--from", kind, str(tmp_path / kind), "--out", str(tmp_path / f"{kind}-again")]
        assert main(again) == 0
        queries = records(tmp_path / f"{kind}-again" / "queries.jsonl")
        assert {row["text"] for row in queries} == {"What is sei?", "How?"}
    assert "not held by BEIR's data sets: answers (2), rankings (2) and games (2)" in capsys.readouterr().err
    assert main(["export", str(tmp_path / "one"), "--to", "beir", "--out", str(tmp_path / "trec")]) == 2
    assert "is there already" in capsys.readouterr().err


def test_a_table_of_queries_is_refused_with_what_makes_it_usable(ragelo: Path, tmp_path: Path, capsys):
    given = ["--answers", str(ragelo / "answers.csv"), "--queries", str(ragelo / "queries.csv")]
    judged = ["--with", "answer_relevance", "--model", "file:m", "--out", str(tmp_path / "out.jsonl")]
    assert main(["judge", *given, *judged]) == 2
    said = capsys.readouterr().err
    assert "queries.csv: is a table, and queries are JSON Lines in BEIR's layout; `ragassay import` makes it" in said


def test_a_corpus_folder_stands_for_its_run(ragelo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    corpus = make_corpus(tmp_path / "mine", "openai:m")
    assert main(["export", str(corpus), "--to", "beir", "--out", "early"]) == 2
    assert "results/mine: has no queries.jsonl" in capsys.readouterr().err and not (tmp_path / "early").exists()
    main(["import", "--from", "ragelo", str(ragelo), "--out", "results/mine"])
    assert main(["export", str(corpus), "--to", "beir", "--out", "made"]) == 0
    assert {row["text"] for row in records(tmp_path / "made" / "queries.jsonl")} == {"What is sei?", "How?"}


def test_phoenix_s_spans_are_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    span = {"context": {"trace_id": "t", "span_id": "1"}, "parent_id": None, "span_kind": "CHAIN", "notes": 1}
    span["attributes"] = {"input.value": "How?", "output.value": "So."}
    path = write_lines(tmp_path / "bot.jsonl", [span])
    assert main(["import", "--from", "phoenix", str(path), "--out", str(tmp_path / "out")]) == 0
    assert records(tmp_path / "out" / "answers" / "bot.jsonl")[0]["answer"] == "So."
    assert "not used: notes" in capsys.readouterr().err


def test_passages_written_out_are_judged_without_a_file_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Of two documents that are expected the passages that the row brings are of one: a recall of a half."""
    row = {
        "request": "How?",
        "response": "By sei().",
        "retrieved_context": [{"doc_uri": "a.pdf", "content": "Call sei()."}],
        "expected_retrieved_context": [{"doc_uri": "a.pdf"}, {"doc_uri": "b.pdf"}],
        "guidelines": ["be kind"],
    }
    path, out = write_lines(tmp_path / "bot.jsonl", [row]), tmp_path / "out.jsonl"
    options = ["--with", "document_recall", "--model", "file:none", "--out", str(out)]
    assert main(["judge", "--answers", str(path), *options]) == 0
    assert "bot.jsonl: read as agent-evaluation; not used: guidelines" in capsys.readouterr().err
    assert [(row["subject"], row["label"]) for row in records(out)] == [("bot", 0.5)]
    assert main(["judge", "--answers", str(path), *options, "--format", "ragas"]) == 2
    assert "as ragas it needs Ragas'" in capsys.readouterr().err
