"""`ragassay check`: what it prints and writes, from whatever the corpus is, and what it refuses."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from support.digest_encoder import DigestEncoder
from support.small_corpus import make_corpus
from support.sound_sets import rows_of, write_corpus

from ragassay.cli import main
from ragassay.retrieval.rankers import embedding
from ragassay.synth.checking.test_set import FAULTS

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `check` over rows, against the English passages unless told otherwise."""
    write_corpus(tmp_path, "en")

    def call(rows: list[dict[str, Any]], *arguments: str, corpus: str = "corpus.jsonl") -> tuple[int, str, str]:
        Path("set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        status = main(["check", "set.jsonl", "--corpus", corpus, *arguments])
        return status, *capsys.readouterr()

    return call


FORMULA = {"id": "formula", "user_input": '=HYPERLINK("http://x","y") in the passage above?', "reference": "@SUM(1)"}


def test_json_lists_id_and_fault_of_each(run: Run):
    status, printed, _ = run([*rows_of("en"), FORMULA, {"id": "blank", "user_input": ""}], "--json")
    found = json.loads(printed)
    assert status == 0
    assert [(one["id"], one["fault"], one["row"], one["line"]) for one in found["findings"]] == [
        ("formula", "not-alone", 6, 6),
        ("blank", "empty", 7, 7),
    ]
    assert found["n"] == 7 and found["counts"]["empty"] == {"found": 1, "n": 7, "n_not_judged": 0}


def test_junit_has_a_case_for_each_fault_that_fails_where_it_was_found(run: Run):
    rows = [*rows_of("en"), {"id": "a\x1b[31m", "user_input": "In this chapter, what is AREF <&>?"}]
    assert run(rows, "--junit", "found.xml")[0] == 0
    suite = ElementTree.parse("found.xml").getroot()[0]
    cases = {case.get("name"): case for case in suite}
    assert list(cases) == list(FAULTS) and suite.get("tests") == str(len(FAULTS))
    failed = [case for case in suite if case.find("failure") is not None]
    assert [case.get("name") for case in failed] == ["not-alone"] and suite.get("failures") == "1"
    assert "1 of 6, 0 not judged; a\\x1b[31m: " in failed[0].find("failure").get("message")
    assert (cases["answer-not-held"].find("skipped") is None) and len(cases["empty"]) == 0


def test_the_terminal_names_what_was_found(run: Run):
    status, printed, _ = run([*rows_of("en"), {"id": "a\x1b[31m", "user_input": "In this chapter, what is AREF?"}])
    assert status == 0
    assert "this chapter" in printed and "a\\x1b[31m" in printed and "\x1b[31m" not in printed
    assert "documents asked about" in printed and "5 of 5" in printed


def test_the_sheet_has_a_row_for_each_question_and_runs_nothing(run: Run):
    assert run([*rows_of("en"), FORMULA], "--out", "accept.csv")[0] == 0
    with Path("accept.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["id"] for row in rows] == [*(f"en-{n}" for n in range(1, 6)), "formula"]
    assert rows[-1]["faults"] == "not-alone" and rows[-1]["verdict"] == "" == rows[0]["faults"]
    assert not any(cell.startswith(("=", "@", "+", "-")) for row in rows for cell in row.values())


def test_labels_are_evidence(run: Run):
    Path("qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tp1\t1\nq2\tgone\t1\n")
    rows = [{"id": "q1", "question": "What ends sleep?"}, {"id": "q2", "question": "What is AREF for?"}]
    found = json.loads(run(rows, "--qrels", "qrels.tsv", "--json")[1])
    assert [(one["id"], one["fault"]) for one in found["findings"]] == [("q2", "evidence-not-in-corpus")]
    Path("qrels.tsv").write_text("query-id\tcorpus-id\tscore\nother\tp1\t1\n")
    status, _, said = run(rows, "--qrels", "qrels.tsv")
    assert status == 2 and "labels none of the set's questions" in said


def test_pdfs_are_read_and_nothing_is_left_behind(run: Run, tmp_path: Path):
    corpus = make_corpus(tmp_path / "mine", "openai:gpt-4o")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    quoted = {"doc": "errata.pdf", "quote": "and wait."}
    rows = [
        {"_id": "there", "text": "Which register waits?", "metadata": {"evidence": [quoted]}},
        {"_id": "gone", "text": "What sings?", "metadata": {"evidence": [quoted | {"quote": "the whale sings"}]}},
        {
            "_id": "page",
            "text": "What is last?",
            "metadata": {"evidence": [{"doc": "errata.pdf", "first_page": 9, "last_page": 9}]},
        },
    ]
    status, printed, _ = run(rows, "--json", corpus=str(corpus))
    found = json.loads(printed)
    assert status == 0
    assert [(one["id"], one["fault"]) for one in found["findings"]] == [
        ("gone", "evidence-not-in-corpus"),
        ("page", "evidence-not-in-corpus"),
    ]
    assert found["coverage"]["sections"]["asked"] == 1 and found["coverage"]["documents"]["of"] == 2
    assert sorted(path.name for path in tmp_path.rglob("*") if path.name != "set.jsonl") == before


def test_near_duplicates_by_meaning(run: Run, monkeypatch: pytest.MonkeyPatch):
    class Same(DigestEncoder):
        """One vector for all texts with the same strange word."""

        def encode_query(self, inputs: list[str], **how: Any) -> Any:
            return super().encode_query(["zzz" if "zzz" in text else text for text in inputs], **how)

    monkeypatch.setattr(embedding, "load_encoder", lambda name: Same())
    rows = [{"id": "a", "question": "Why zzz here?"}, {"id": "b", "question": "How come zzz there now?"}]
    found = json.loads(run(rows, "--json", "--embedding", "some-model")[1])
    assert [(one["id"], one["fault"], one["other"]) for one in found["findings"]] == [("b", "near-duplicate", "a")]


@pytest.mark.parametrize(
    ("corpus", "text", "said"),
    [
        ("nowhere", None, "there is no text to check against"),
        ("empty", "", "the corpus has no text"),
        ("blank", '{"_id": "p", "text": " … "}\n', "the corpus has no text"),
        ("broken", "{", "is not JSON"),
    ],
)
def test_a_corpus_that_cannot_be_used(run: Run, corpus: str, text: str | None, said: str):
    if text is not None:
        Path(corpus).mkdir()
        Path(corpus, "corpus.jsonl").write_text(text)
    status, _, error = run(rows_of("en"), "--out", "accept.csv", corpus=corpus)
    assert status == 2 and said in error and error.count("\n") == 1
    assert not Path("accept.csv").exists()
