"""Whether an answer answers: 1 or 0, and their mean, the share answered."""

from __future__ import annotations

import re

import pytest
from support.item_replies import between, script


def test_an_answer_is_1_and_an_admission_0(bench, capsys):
    def label(text):
        found = "could not" not in between("answer", text)
        return {"reason": "So it is.", "label": "yes" if found else "no"}

    bench.server.script = script({"reason,label": label})
    answers = [
        {"query_id": "q1", "agent": "ours", "answer": "In delay.h, wrongly or not.", "passages": ["p1"]},
        {"query_id": "q2", "agent": "ours", "answer": "I could not find it.", "passages": []},
    ]
    rows = bench.judge("no_answer", answers=answers)
    assert [(row.query_id, row.criterion, row.label, row.score) for row in rows] == [
        (query, criterion, label, label)
        for query, label in (("q1", 1), ("q2", 0))
        for criterion in ("query_answered", "query_answered_strict")
    ]
    assert "0.500" in capsys.readouterr().out


def test_an_agent_that_failed_has_strictly_not_answered_and_is_else_counted_as_failed(bench, capsys):
    bench.server.script = script({"reason,label": lambda text: {"reason": "So it is.", "label": "yes"}})
    answers = [
        {"query_id": "q1", "agent": "ours", "answer": "In delay.h.", "passages": ["p1"]},
        {"query_id": "q2", "agent": "ours", "answer": None, "error": "timed out"},
    ]
    rows = {(row.query_id, row.criterion): row for row in bench.judge("no_answer", answers=answers)}
    raw, strict = rows["q2", "query_answered"], rows["q2", "query_answered_strict"]
    assert (raw.label, raw.error) == (None, "no answer to judge: timed out")
    assert (strict.label, strict.reason, strict.error) == (0, "the agent gave no answer: timed out", None)
    assert len(bench.server.requests) == 1
    means = capsys.readouterr().out.partition("threshold")[0].splitlines()
    printed = [re.split(r"\s{2,}", line.strip()) for line in means if line.startswith("query_answered")]
    shown = {cells[0]: [cells[2], *cells[-2:]] for cells in printed}
    assert shown == {"query_answered": ["1.000", "1", "1"], "query_answered_strict": ["0.500", "2", "0"]}


def test_a_judge_that_failed_is_no_verdict_on_the_agent(bench):
    bench.server.script = script({"reason,label": lambda text: {"reason": "So it is.", "label": "perhaps"}})
    assert all(row.label is None and row.error for row in bench.judge("no_answer"))


def test_by_probability(bench):
    bench.server.script = script({"": lambda text: {"yes": 0.6, "no": 0.4}})
    row = bench.judge("no_answer", "--mode", "probability")[0]
    assert (row.label, row.probability, row.expected) == (1, pytest.approx(0.6), pytest.approx(0.6))
