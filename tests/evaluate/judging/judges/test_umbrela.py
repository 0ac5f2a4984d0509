"""UMBRELA's two prompts: by steps, or an explanation and the grade."""

from __future__ import annotations

import json

import pytest
from support.loopback.behaviours import reply, token_probabilities
from support.triad_bench import graded, schema, settings, system

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


@pytest.mark.parametrize("variant", ["bing", "basic"])
def test_either_gives_probabilities(bench, variant):
    bench.server.script = lambda number, body: token_probabilities({"0": 0.1, "1": 0.2, "2": 0.6, "3": 0.1})
    row = bench.judge("umbrela", *settings(bench, "umbrela", f'variant = "{variant}"'), "--mode", "probability")[0]
    assert (row.label, row.expected) == (2, pytest.approx(1.7))


@pytest.mark.parametrize(
    "said",
    [
        "The passage is relevant. 3",
        "##final score: 3",
        '{"label": 3}',
        '{"reason": "x", "label": "3"}',
        json.dumps(STEPS),
    ],
)
def test_a_hostile_reply_to_the_basic_prompt_is_an_error(bench, said):
    bench.server.script = lambda number, body: reply(said)
    rows = bench.judge("umbrela", *settings(bench, "umbrela", 'variant = "basic"'))
    assert rows and all(row.label is None and row.error for row in rows)


def test_a_variant_that_there_is_not_is_refused(bench, capsys):
    bench.judge("umbrela", *settings(bench, "umbrela", 'variant = "best"'))
    assert bench.status == 2
    assert "evaluate.settings.umbrela: " in capsys.readouterr().err
