"""Factual correctness over HTTP: claims both ways, worked by hand."""

from __future__ import annotations

import pytest
from support import judge_bench
from support.item_replies import between, items, script, verdicts
from support.loopback.behaviours import refusal

CLAIMS = "claims"
LABELS = "items"

GOLDEN = "Gold: a. b."
ANSWER = "Ours: a. x. y."


@pytest.fixture(autouse=True)
def golden(monkeypatch):
    """One query has a golden answer, the other has none."""
    queries = [
        {"_id": "q1", "text": "What?", "metadata": {"expected_response": GOLDEN}},
        {"_id": "q2", "text": "Why?", "metadata": {}},
    ]
    monkeypatch.setattr(judge_bench, "QUERIES", queries)


def claims(text):
    """The letters of an answer, each a claim."""
    return {"claims": [f"claim {letter}" for letter in "abxy" if f" {letter}." in between("answer", text)]}


def labels(text):
    """a is in both; y contradicts the golden answer."""
    return verdicts(
        [
            "entailed" if f" {claim[-1]}." in text else "contradicted" if claim[-1] == "y" else "neutral"
            for claim in items("claim", text)
        ]
    )


def judge(bench, text, *more, **by_fields):
    bench.server.script = script({CLAIMS: claims, LABELS: labels} | by_fields)
    rows = bench.judge(
        "factual_correctness", *more, answers=[{"query_id": "q1", "agent": "ours", "answer": text, "passages": []}]
    )
    return rows, {row.criterion.removeprefix("factual_"): row.label for row in rows}


def test_precision_recall_and_f1_by_hand(bench, capsys):
    """Of a, x, y the golden answer entails a; of a, b the answer entails a: P 1/3, R 1/2, F1 0.4."""
    rows, values = judge(bench, ANSWER)
    assert values == pytest.approx({"precision": 1 / 3, "recall": 1 / 2, "f1": 0.4})
    assert [(d["of"], d["claim"], d["label"]) for d in rows[0].details] == [
        ("answer", "claim a", "entailed"),
        ("answer", "claim x", "neutral"),
        ("answer", "claim y", "contradicted"),
        ("expected_response", "claim a", "entailed"),
        ("expected_response", "claim b", "neutral"),
    ]
    assert rows[0].details[0]["reason"] == "Because 1."
    assert "passed over 1 of 2 queries: it needs metadata.expected_response" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "expected", "values"),
    [
        ("Ours: nothing.", GOLDEN, {"precision": None, "recall": 0, "f1": 0}),
        (ANSWER, "Gold: nothing.", {"precision": 0, "recall": None, "f1": 0}),
        ("Ours: nothing.", "Gold: nothing.", {"precision": None, "recall": None, "f1": None}),
    ],
)
def test_a_text_without_claims_has_no_share(bench, text, expected, values):
    judge_bench.QUERIES[0]["metadata"]["expected_response"] = expected
    rows, found = judge(bench, text)
    assert found == values
    assert all(row.error.startswith("no value: the ") for row in rows if row.label is None)


def test_claims_that_cannot_be_had_fail_the_answer(bench):
    rows, values = judge(bench, ANSWER, claims=lambda text: refusal() if "Gold" in text else claims(text))
    assert set(values.values()) == {None}
    assert {row.error[:62] for row in rows} == {"the claims of the expected_response could not be had: the mode"}


def test_a_claim_without_a_verdict_fails_the_answer(bench):
    rows, values = judge(bench, ANSWER, items=lambda text: refusal())
    assert set(values.values()) == {None}
    assert rows[0].error.startswith("3 of 3 claims could not be judged: the model refused")


def test_by_probability_each_claim_is_asked_by_itself(bench):
    def token(text):
        (claim,) = items("claim", text)
        return {"2": 0.9, "1": 0.1, "0": 0.0} if f" {claim[-1]}." in text else {"2": 0.1, "1": 0.5, "0": 0.4}

    _, values = judge(bench, ANSWER, "--mode", "probability", **{"": token})
    assert values == pytest.approx({"precision": 1 / 3, "recall": 1 / 2, "f1": 0.4})
