"""Asking the judge again: off by default; a seeded part, word for word, in batches and a file of its own."""

from __future__ import annotations

from collections import Counter

import pytest
from support.scripted_judge import CORRECTNESS, Scripted, all_answers, fair, workspace

from ragassay.evaluate.audit.judge_audit import audit_repeats
from ragassay.evaluate.inputs.clusters import ALONE
from ragassay.evaluate.make_judgments import make_judgments
from ragassay.files import read_records
from ragassay.models.requests import Reply
from ragassay.records import Game, Judgment, Repeat


def same_words(label, text):
    return fair(label.split("-repeat")[0], text)


def judged(space, say=same_words):
    caller = Scripted(say)
    return make_judgments(space, caller), caller


def test_nothing_is_asked_again_unless_the_settings_say_so(tmp_path):
    space = workspace(tmp_path, all_answers())
    space.repeats.parent.mkdir(parents=True, exist_ok=True)
    space.repeats.write_text("left by an earlier run\n", encoding="utf-8")
    _, caller = judged(space)
    assert not space.repeats.exists()
    assert {batch.label for batches in caller.rounds for batch in batches} == {
        "relevance",
        "pointwise",
        CORRECTNESS,
        "games-first-a",
        "games-first-b",
    }


def test_a_part_is_asked_again_word_for_word_in_batches_of_its_own(tmp_path):
    space = workspace(tmp_path, all_answers(), repeats=2, repeat_share=0.5)
    outcome, caller = judged(space)
    assert [batch.label for batch in caller.rounds[-1]] == [
        f"{kind}-repeat-{sample}"
        for sample in (1, 2)
        for kind in ("relevance", "pointwise", CORRECTNESS, "games-first-a", "games-first-b")
    ]
    for label, n in (("relevance", 3), ("pointwise", 3), (CORRECTNESS, 3), ("games-first-a", 3), ("games-first-b", 3)):
        first = {request.messages for request in caller.asked(label)}
        for sample in (1, 2):
            again = caller.asked(f"{label}-repeat-{sample}")
            assert len(again) == n
            assert {request.sample for request in again} == {sample}
            assert {request.messages for request in again} <= first
    assert {request.messages for request in caller.asked("games-first-a-repeat-1")} == {
        request.messages for request in caller.asked("games-first-a-repeat-2")
    }
    rows = read_records(space.repeats, Repeat)
    assert Counter(row.sample for row in rows) == {1: 3 + 18 + 6, 2: 3 + 18 + 6}
    assert outcome.n_records == 6 + 36 + 12 + len(rows)


def test_the_same_part_is_drawn_whenever_it_is_drawn(tmp_path):
    drawn = []
    for name in ("one", "two"):
        space = workspace(tmp_path / name, all_answers(), repeats=1, repeat_share=0.3)
        judged(space)
        drawn.append(space.repeats.read_bytes())
    assert drawn[0] == drawn[1]


def test_a_repeat_that_failed_is_an_error_record(tmp_path):
    def say(label, text):
        return Reply(error="timed out") if "repeat" in label else fair(label, text)

    space = workspace(tmp_path, all_answers(), repeats=1, repeat_share=1.0)
    outcome, _ = judged(space, say)
    rows = read_records(space.repeats, Repeat)
    assert {(row.label, row.error) for row in rows} == {(None, "timed out")}
    assert outcome.n_failed == len(rows)


def test_probabilities_are_not_asked_for_twice(tmp_path):
    def say(label, text):
        two = {"A": 0.6, "B": 0.4} if label.startswith("games") else {"Yes": 0.6, "No": 0.4}
        labels = not label.startswith("games") and label != "pointwise-refusal"
        return Reply(probabilities={"0": 0.2, "1": 0.3, "2": 0.5} if labels else two)

    space = workspace(tmp_path, all_answers(), repeats=2, mode="probability")
    outcome, caller = judged(space, say)
    assert not any("repeat" in batch.label for batches in caller.rounds for batch in batches)
    assert any("judge.repeats" in notice for notice in outcome.notices)
    assert not space.repeats.exists()


@pytest.mark.parametrize(("turned", "steady"), [(False, 1.0), (True, 0.0)])
def test_a_judge_that_turns_round_when_asked_again_is_found_out(tmp_path, turned, steady):
    def say(label, text):
        value = same_words(label, text)
        if turned and "repeat" in label and "verdict" in value:
            value["verdict"] = {"A": "B", "B": "C", "C": "A"}[value["verdict"]]
        return value

    space = workspace(tmp_path, all_answers(), repeats=1, repeat_share=1.0)
    judged(space, say)
    findings = audit_repeats(
        read_records(space.repeats, Repeat),
        read_records(space.relevance, Judgment),
        read_records(space.pointwise, Judgment),
        read_records(space.games, Game),
        ALONE.of(["q1", "q2"]),
    )
    assert [(row.subject, row.figure.value) for row in findings] == [
        ("passages", 1.0),
        ("answers", 1.0),
        ("games", steady),
    ]


def test_without_repeats_there_is_no_figure():
    assert audit_repeats([], [], [], [], ALONE) == ()
