"""Context relevance: each passage alone, 0 to 3 or the scale that is set, relevant from two thirds up."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from support.loopback.behaviours import token_probabilities
from support.triad_bench import graded, schema, settings, system, user


def test_each_passage_is_graded_alone_and_relevant_from_2(bench):
    grades = {"util/delay.h declares": 3, "keeps the processor": 1, "enabled by sei()": 2}
    bench.server.script = lambda number, body: graded(next(grades[key] for key in grades if key in user(body)))
    rows = bench.judge("context_relevance")
    assert [(row.query_id, row.subject, row.label) for row in rows] == [
        ("q1", "p1", 3),
        ("q1", "p2", 1),
        ("q2", "p3", 2),
    ]
    assert [row.score for row in rows] == pytest.approx([1, 1 / 3, 2 / 3])
    assert [row.details for row in rows] == [({"relevant": True},), ({"relevant": False},), ({"relevant": True},)]
    assert rows[0].reason == "So it is."
    assert all(user(request.body).count("<passage>") == 1 for request in bench.server.requests)


def test_the_meaning_of_each_grade_is_spelled_out(bench):
    bench.server.script = lambda number, body: graded(0)
    bench.judge("context_relevance")
    asked = bench.server.requests[0].body
    assert [f"- {grade}, " in system(asked) for grade in range(4)] == [True] * 4
    assert schema(asked)["properties"]["label"]["enum"] == [0, 1, 2, 3]
    assert list(schema(asked)["properties"]) == ["reason", "label"]


@pytest.mark.parametrize(
    ("scale", "label", "score", "relevant"),
    [
        ([0, 1], 1, 1.0, True),
        ([0, 1], 0, 0.0, False),
        ([0, 10], 7, 0.7, True),
        ([0, 10], 6, 0.6, False),
        ([1, 5], 4, 0.75, True),
        ([1, 5], 3, 0.5, False),
    ],
)
def test_another_scale_gives_the_same_on_0_to_1(bench, scale, label, score, relevant):
    bench.server.script = lambda number, body: graded(label)
    row = bench.judge("context_relevance", *settings(bench, "context_relevance", f"scale = {scale}"))[0]
    assert (row.label, row.score, row.details) == (label, pytest.approx(score), ({"relevant": relevant},))
    asked = bench.server.requests[0].body
    assert schema(asked)["properties"]["label"]["enum"] == list(range(scale[0], scale[1] + 1))
    assert f"Grade with a whole number from {scale[0]} to {scale[1]}" in system(asked)


def test_criteria_and_examples_of_the_users_own_are_shown(bench):
    bench.server.script = lambda number, body: graded(0)
    lines = (
        'criteria = "Tables count as text."',
        'examples = [{query = "Baud rate?", passage = "It is 9600.", label = 3}]',
    )
    bench.judge("context_relevance", *settings(bench, "context_relevance", *lines))
    said = system(bench.server.requests[0].body)
    assert "Heed this besides: Tables count as text." in said
    assert "<example>\nquery: Baud rate?\npassage: It is 9600.\nlabel: 3\n</example>" in said


def shown(bench, *lines: str, evaluate: str = "") -> str:
    """The instructions under these settings, with lines of `[evaluate]` before them."""
    bench.server.script = lambda number, body: graded(0)
    flag, path = settings(bench, "context_relevance", *lines)
    if evaluate:
        text = (bench.folder / "experiment.toml").read_text()
        (bench.folder / "experiment.toml").write_text(
            text.replace("[evaluate.settings", f"[evaluate]\n{evaluate}\n[evaluate.settings")
        )
    bench.judge("context_relevance", flag, path)
    return system(bench.server.requests[-1].body)


def test_seven_examples_are_shown_unless_others_or_none_are_wanted(bench):
    assert shown(bench).count("<example>") == 7
    assert shown(bench, "examples = []").count("<example>") == 0
    assert shown(bench, 'examples = [{query = "Baud rate?", passage = "9600.", label = 3}]').count("<example>") == 1
    assert shown(bench, "scale = [0, 1]").count("<example>") == 0, "their grades are of 0 to 3"
    (bench.folder / "own.md").write_text(
        "Grade.{% for e in examples %}{{ e }}{% endfor %}\n## User\n{{ query.text }}\n"
    )
    assert shown(bench, 'prompt = "own.md"').count("<example>") == 0


def test_the_examples_have_every_grade_and_every_kind_of_query():
    """TruLens's seven: 3, 3, 2, 1, 1, 1, 0; two questions, four search phrases, one statement."""
    from ragassay.evaluate.judging.judges.triad import EXAMPLES

    rows = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]
    assert [row["label"] for row in rows] == [3, 3, 2, 1, 1, 1, 0]
    assert [list(row) for row in rows] == [["query", "passage", "reason", "label"]] * 7
    kinds = Counter(
        "question" if r["query"].endswith("?") else "statement" if r["query"].endswith(".") else "phrase" for r in rows
    )
    assert kinds == {"question": 2, "phrase": 4, "statement": 1}


def test_a_statement_is_judged_by_its_topic_and_with_our_prompt_by_evidence(bench):
    theirs, ours = shown(bench), shown(bench, evaluate='prompts = "ragassay"')
    assert "or is on the same topic" in theirs and "search phrase" in theirs and "a statement asks for" not in theirs
    assert "a statement asks for what shows whether it is true" in ours and ours.count("<example>") == 0


def test_probabilities_give_the_likeliest_grade_and_the_mean(bench):
    bench.server.script = lambda number, body: token_probabilities({"0": 0.1, "1": 0.2, "2": 0.6, "3": 0.1})
    row = bench.judge("context_relevance", "--mode", "probability")[0]
    assert (row.label, row.probability, row.expected) == (2, pytest.approx(0.6), pytest.approx(1.7))
    assert row.details == ({"relevant": True},)


@pytest.mark.parametrize(
    "scale", ["[3, 0]", "[0, 11]", "[2, 2]", "[-1, 3]", "[0, 1, 2]", "[0.0, 1.0]", '["0", "3"]', "3"]
)
def test_a_scale_that_is_none_is_refused(bench, capsys, scale):
    bench.judge("context_relevance", *settings(bench, "context_relevance", f"scale = {scale}"))
    assert bench.status == 2
    assert "evaluate.settings.context_relevance: " in capsys.readouterr().err
    assert not bench.server.requests


def test_two_digits_are_no_single_token(bench, capsys):
    bench.judge("context_relevance", *settings(bench, "context_relevance", "scale = [0, 10]"), "--mode", "probability")
    assert bench.status == 2
    assert "not single tokens" in capsys.readouterr().err
