"""What was retrieved: UMBRELA's two prompts, by steps or an explanation and the grade; and document recall, by hand."""

from __future__ import annotations

import json

import pytest
from support.json_lines import write_lines
from support.loopback.behaviours import reply
from support.triad_bench import graded, schema, settings, system

from ragassay.cli import main
from ragassay.files import read_records
from ragassay.records import Assessment

STEPS = {"intent": "To know.", "match": 1, "trustworthiness": 3, "reason": "So it is.", "final": 2}


def test_bing_s_prompt_is_the_default_and_only_the_final_grade_counts(bench):
    bench.server.script = lambda number, body: reply(json.dumps(STEPS))
    row = bench.judge("umbrela")[0]
    assert (row.label, row.score, row.reason) == (2, pytest.approx(2 / 3), "So it is.")
    assert row.details == ({"intent": "To know.", "match": 1, "trustworthiness": 3},)
    said = system(bench.server.requests[0].body)
    assert "How to choose: 1 if the passage is somewhat related" in said and "Go about it in steps" in said


def test_the_basic_prompt_asks_for_an_explanation_and_the_grade(bench):
    bench.server.script = lambda number, body: graded(3)
    row = bench.judge("umbrela", *settings(bench, "umbrela", 'variant = "basic"'))[0]
    assert (row.label, row.score, row.reason, row.details) == (3, 1, "So it is.", ())
    asked = bench.server.requests[0].body
    assert list(schema(asked)["properties"]) == ["reason", "label"]
    assert "by what you know yourself" in system(asked) and "How to choose" not in system(asked)


def test_a_variant_that_there_is_not_is_refused(bench, capsys):
    bench.judge("umbrela", *settings(bench, "umbrela", 'variant = "best"'))
    assert bench.status == 2
    assert "evaluate.settings.umbrela: " in capsys.readouterr().err


PASSAGES = [
    {"_id": "a-1", "text": "One.", "metadata": {"doc": "a.pdf"}},
    {"_id": "a-2", "text": "Two.", "metadata": {"doc": "a.pdf"}},
    {"_id": "b-1", "text": "Three.", "metadata": {"doc": "b.pdf"}},
    {"_id": "c-1", "text": "Four.", "metadata": {"doc": 7}},
]


def recall(bench, expected, retrieved, metadata=None):
    answer = {"query_id": "q", "query": "Which?", "agent": "ours", "answer": "That.", "passages": retrieved}
    answers, passages, out = (bench.folder / name for name in ("a.jsonl", "p.jsonl", "out.jsonl"))
    write_lines(answers, [answer | {"expected_docs": expected}])
    write_lines(passages, PASSAGES)
    options = ["--answers", str(answers), "--passages", str(passages), "--out", str(out), "--model", "openai:none"]
    if metadata is not None:
        write_lines(bench.folder / "q.jsonl", [{"_id": "q", "text": "Which?", "metadata": metadata}])
        options += ["--queries", str(bench.folder / "q.jsonl")]
    assert main(["judge", *options, "--with", "document_recall"]) == 0
    return read_records(out, Assessment)


@pytest.mark.parametrize(
    ("expected", "retrieved", "share"),
    [
        (["a.pdf", "b.pdf"], ["a-1", "a-2"], 1 / 2),
        (["a.pdf", "b.pdf"], ["a-1", "b-1"], 1),
        (["a-1", "b.pdf", "c-1"], ["a-1", "c-1"], 2 / 3),
        (["a-2"], ["a-1"], 0),
        (["a.pdf", "a.pdf"], ["a-1"], 1),
        (["a.pdf"], [], 0),
    ],
)
def test_the_share_of_expected_documents_that_were_retrieved(bench, expected, retrieved, share):
    (row,) = recall(bench, expected, retrieved)
    assert (row.label, row.judge) == (pytest.approx(share), "expected_docs")
    assert [part["doc"] for part in row.details] == list(dict.fromkeys(expected))
    assert sum(part["found"] for part in row.details) == pytest.approx(share * len(row.details))
    assert {part["source"] for part in row.details} == {"metadata.expected_docs"}
    assert not bench.server.requests


@pytest.mark.parametrize(
    ("metadata", "share", "source"),
    [
        ({"doc": "a.pdf", "section": "a-1"}, 1, "metadata.doc"),
        ({"doc": "b.pdf"}, 0, "metadata.doc"),
        ({"doc": "a.pdf", "expected_docs": ["b.pdf"]}, 0, "metadata.expected_docs"),
        ({"doc": "b.pdf", "expected_docs": ["a.pdf", "b.pdf"]}, 1 / 2, "metadata.expected_docs"),
    ],
)
def test_without_expected_docs_it_is_the_document_that_the_question_was_made_from(bench, metadata, share, source):
    (row,) = recall(bench, None, ["a-1", "a-2"], metadata)
    assert row.label == pytest.approx(share)
    assert {part["source"] for part in row.details} == {source}


@pytest.mark.parametrize(
    "metadata", [None, {"doc": 7}, {"doc": " "}, {"doc": None}, {"doc": "a.pdf", "expected_docs": []}]
)
def test_what_names_no_document_owes_nothing(bench, metadata):
    assert recall(bench, None, ["a-1"], metadata) == [] == recall(bench, [], ["a-1"], metadata)
