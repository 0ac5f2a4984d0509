"""Context precision, recall and relevancy: examples of Ragas' documentation over HTTP, and scikit-learn's figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score
from support.item_replies import between, items
from support.judge_bench import kind_reply
from support.loopback.behaviours import refusal, reply
from support.verdict_bench import asked, judge_one, yes_where

from ragassay.evaluate.judging.judges.eval_studio.passages import average_precision

FRANCE = "France is in Western Europe. Its capital is Paris."
TOWER, GATE = "The Eiffel Tower is in Paris.", "The Brandenburg Gate is in Berlin."


def useful(*texts):
    return lambda text: {"reason": "So.", "label": "yes" if between("passage", text) in texts else "no"}


@pytest.mark.parametrize(("passages", "value"), [((TOWER, GATE), 1.0), ((GATE, TOWER), 0.5), ((GATE, GATE + "!"), 0.0)])
def test_precision_of_the_documented_example(bench, monkeypatch, passages, value):
    """docs.ragas.io, "Context Precision": the useful chunk first is 1 (0.9999…), behind a useless one 0.5."""
    row = judge_one(bench, monkeypatch, "context_precision", {"reason,label": useful(TOWER)}, passages=passages)
    assert row["context_precision"].label == value
    assert [d["passage"] for d in row["context_precision"].details] == ["p1", "p2"]


def test_a_passage_that_cannot_be_judged_fails_the_answer(bench, monkeypatch):
    replies = {"reason,label": lambda text: refusal() if GATE in text else useful(TOWER)(text)}
    row = judge_one(bench, monkeypatch, "context_precision", replies, passages=(TOWER, GATE))["context_precision"]
    assert row.label is None and row.error.startswith("1 of 2 passages could not be judged: the model refused")


@given(st.lists(st.booleans(), min_size=1, max_size=20).filter(any))
def test_precision_is_scikit_learns_average_precision(flags):
    assert average_precision(flags) == pytest.approx(average_precision_score(flags, [-i for i in range(len(flags))]))


def test_recall_of_the_documented_example(bench, monkeypatch):
    """docs.ragas.io, "Context Recall": the first sentence can be attributed to the context, the second cannot."""
    replies = {"items": yes_where("sentence", "France is in Western Europe.")}
    row = judge_one(bench, monkeypatch, "context_recall", replies, expected=FRANCE)["context_recall"]
    assert row.label == 0.5 and [d["label"] for d in row.details] == ["yes", "no"]


def test_relevancy_counts_the_sentences_of_all_passages(bench, monkeypatch):
    """Two of five sentences; each passage is asked about by itself, whoever retrieved it."""
    passages = ("One. Two. Three.", "Four. Five.")
    replies = {"items": yes_where("sentence", "Two.", "Five.")}
    row = judge_one(bench, monkeypatch, "context_relevancy", replies, passages=passages)["context_relevancy"]
    assert row.label == pytest.approx(2 / 5)
    assert sorted(len(items("sentence", text)) for text in asked(bench)) == [2, 3]


@pytest.mark.parametrize("name", ["context_precision", "context_recall", "context_relevancy"])
@pytest.mark.parametrize(("passages", "why"), [([], "no passage was retrieved"), ([" "], "the context holds no words")])
def test_an_empty_context_has_no_value(bench, monkeypatch, name, passages, why):
    bench.server.script = lambda number, body: reply(kind_reply(body))
    row = judge_one(bench, monkeypatch, name, {}, passages=passages)[name]
    assert (row.label, row.error) == (None, f"no value: {why}") and not asked(bench)
