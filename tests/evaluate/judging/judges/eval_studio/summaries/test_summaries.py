"""Summaries: good is 1 and bad is 0, of the document that was named."""

from __future__ import annotations

import pytest
from support.verdict_bench import asked, judge_one

NAMES = ["summary_completeness", "summary_faithfulness", "summary_quality"]


def said(label):
    return {"reason,label": lambda text: {"reason": "So.", "label": label}}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("label", "value"), [("good", 1), ("bad", 0)])
def test_good_and_bad(bench, monkeypatch, name, label, value):
    row = judge_one(bench, monkeypatch, name, said(label), passages=["The document."])[name]
    assert (row.label, row.score, row.reason) == (value, value, "So.")
    assert '<document number="1">\nThe document.' in asked(bench)[0]


@pytest.mark.parametrize("name", NAMES)
def test_the_document_may_be_the_question(bench, monkeypatch, name):
    lines = (f"[evaluate.settings.{name}]", 'document = "question"')
    assert judge_one(bench, monkeypatch, name, said("good"), *lines, passages=[])[name].label == 1
    assert '<document number="1">\nWhat?' in asked(bench)[0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("case", "why"), [({"passages": []}, "no passage was retrieved"), ({"answer": "…"}, "the summary holds no words")]
)
def test_nothing_to_sum_up_and_no_summary_have_no_value(bench, monkeypatch, name, case, why):
    row = judge_one(bench, monkeypatch, name, said("good"), **case)[name]
    assert (row.label, row.error) == (None, f"no value: {why}") and not asked(bench)


def test_by_probability(bench, monkeypatch):
    """0 stands for bad and 1 for good: .6 of .8."""
    replies = {"": lambda text: {"0": 0.2, "1": 0.6}}
    row = judge_one(bench, monkeypatch, NAMES[0], replies, more=["--mode", "probability"])[NAMES[0]]
    assert (row.label, row.probability) == (1, pytest.approx(0.75))
