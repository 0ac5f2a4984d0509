"""Evaluators over files: what is owed is there, whatever the model says."""

from __future__ import annotations

import json

import pytest
from support.judge_bench import ANSWERS
from support.loopback.behaviours import reply, token_probabilities


def grade(final):
    return reply(
        json.dumps({"intent": "To know.", "match": 2, "trustworthiness": 3, "reason": "So it is.", "final": final})
    )


def test_a_grade_is_recorded_with_its_reason_and_score(bench):
    bench.server.script = lambda number, body: grade(2)
    rows = bench.judge("umbrela")
    assert bench.status == 0
    assert [(row.query_id, row.subject, row.label) for row in rows] == [
        ("q1", "p1", 2),
        ("q1", "p2", 2),
        ("q2", "p3", 2),
    ]
    assert {(row.criterion, row.judge, row.reason) for row in rows} == {("umbrela", "openai:judge", "So it is.")}
    assert rows[0].score == pytest.approx(2 / 3)
    assert rows[0].details == ({"intent": "To know.", "match": 2, "trustworthiness": 3},)


def test_a_second_run_asks_nothing(bench):
    first = bench.judge("umbrela")
    asked = len(bench.server.requests)
    assert bench.judge("umbrela") == first
    assert len(bench.server.requests) == asked == 3


def test_the_mode_of_probabilities_gives_the_likeliest_grade_and_the_mean(bench):
    bench.server.script = lambda number, body: token_probabilities({"0": 0.1, "1": 0.2, "2": 0.3, "3": 0.4})
    row = bench.judge("umbrela", "--mode", "probability")[0]
    assert (row.label, row.probability, row.expected) == (3, pytest.approx(0.4), pytest.approx(2.0))


def test_an_agent_that_did_not_answer_owes_an_error_record(bench):
    bench.server.script = lambda number, body: reply(json.dumps({"reason": "So.", "label": "yes"}))
    prompt = bench.folder / "polite.md"
    prompt.write_text("Is the answer polite?\n## User\n{{ fence('answer', answer) }}\n")
    config = bench.config('[[evaluate.custom]]\nname = "polite"\nprompt = "polite.md"')
    rows = bench.judge("polite", *config, answers=ANSWERS[:1])
    assert [(row.query_id, row.label, row.error) for row in rows] == [
        ("q1", 1, None),
        ("q2", None, "no answer to judge: the agent's file has no answer"),
    ]
