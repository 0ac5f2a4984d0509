"""Whether an answer answers: 1 or 0, and their mean, the share answered."""

from __future__ import annotations

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
    assert [(row.criterion, row.label, row.score) for row in rows] == [("answered", 1, 1), ("answered", 0, 0)]
    assert "0.500" in capsys.readouterr().out


def test_by_probability(bench):
    bench.server.script = script({"": lambda text: {"yes": 0.6, "no": 0.4}})
    row = bench.judge("no_answer", "--mode", "probability")[0]
    assert (row.label, row.probability, row.expected) == (1, pytest.approx(0.6), pytest.approx(0.6))
