"""Faithfulness: the example of Ragas' documentation over HTTP, and what has no value."""

from __future__ import annotations

import pytest
from support.loopback.behaviours import refusal
from support.verdict_bench import asked, judge_one, yes_where

BORN = ["Einstein was born in Germany.", "Einstein was born on 20th March 1879."]
REPLIES = {"claims": lambda text: {"claims": BORN}, "items": yes_where("claim", BORN[0])}


def test_the_documented_example(bench, monkeypatch):
    """docs.ragas.io, "Faithfulness": of the two statements one can be inferred, 1 / 2."""
    row = judge_one(bench, monkeypatch, "faithfulness", REPLIES, passages=["He was born in Ulm, Germany.", "14 March."])
    assert row["faithfulness"].label == 0.5
    assert [(d["claim"], d["label"]) for d in row["faithfulness"].details] == [(BORN[0], "yes"), (BORN[1], "no")]
    assert '<passage number="1">\nHe was born in Ulm' in asked(bench)[-1] and "Nobody found it" not in asked(bench)[-1]


@pytest.mark.parametrize(
    ("case", "error"),
    [
        ({"answer": "…"}, "no value: the answer holds no words"),
        ({"passages": []}, "no value: no passage was retrieved"),
        ({"passages": [" ", "…"]}, "no value: the context holds no words"),
        ({"replies": {"claims": lambda text: {"claims": []}}}, "no value: the answer makes no claim"),
        ({"replies": {"items": lambda text: refusal()}}, "2 of 2 claims could not be judged: the model refused"),
    ],
)
def test_what_cannot_be_computed_is_an_error(bench, monkeypatch, case, error):
    replies = REPLIES | case.pop("replies", {})
    row = judge_one(bench, monkeypatch, "faithfulness", replies, **case)["faithfulness"]
    assert row.label is None and row.error.startswith(error)
