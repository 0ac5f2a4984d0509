"""Answer relevance: the answer against the question, without the passages."""

from __future__ import annotations

import pytest
from support.loopback.behaviours import status, token_probabilities
from support.triad_bench import graded, schema, settings, system, user


def test_an_answer_is_graded_against_the_question_alone(bench):
    bench.server.script = lambda number, body: graded(3 if "util/delay.h" in user(body) else 1)
    rows = bench.judge("answer_relevance")
    assert [(row.query_id, row.subject, row.label, row.score) for row in rows] == [
        ("q1", "ours", 3, 1.0),
        ("q2", "ours", 1, pytest.approx(1 / 3)),
    ]
    asked = bench.server.requests[0].body
    assert "declares _delay_ms()" not in user(asked)
    assert "refuses" in system(asked) and "do not judge whether the answer is correct" in system(asked)
    assert list(schema(asked)["properties"]) == ["reason", "label"]


def test_a_binary_scale_has_nothing_between(bench):
    bench.server.script = lambda number, body: graded(1)
    row = bench.judge("answer_relevance", *settings(bench, "answer_relevance", "scale = [0, 1]"))[0]
    assert (row.label, row.score) == (1, 1.0)
    assert "- between" not in system(bench.server.requests[0].body)


def test_probabilities_give_the_likeliest_grade_and_the_mean(bench):
    bench.server.script = lambda number, body: token_probabilities({"0": 0.7, "1": 0.1, "2": 0.1, "3": 0.1})
    row = bench.judge("answer_relevance", "--mode", "probability")[0]
    assert (row.label, row.probability, row.expected) == (0, pytest.approx(0.7), pytest.approx(0.6))


def test_a_call_that_fails_is_an_error(bench):
    bench.server.script = lambda number, body: graded(2) if "sei()" in user(body) else status(400)
    rows = bench.judge("answer_relevance")
    assert [(row.label, row.error is None) for row in rows] == [(None, False), (2, True)]
