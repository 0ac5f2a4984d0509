"""Verdict and root cause by hand, from the documentation of Databricks' Agent Evaluation and the words of its users."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.figures.pass_or_fail import (
    BUILT_IN,
    Outcome,
    answer_outcome,
    fix_of,
    overall,
    passages_outcome,
    precision,
    rationale,
)
from ragassay.evaluate.judging.engine.evaluator import NO_VALUE
from ragassay.records import Assessment


def outcomes(**found: bool | None) -> list[Outcome]:
    """What each judge found; None is an error."""
    return [Outcome(name, passed, "timed out" if passed is None else None) for name, passed in found.items()]


def assessment(score: float | None, error: str | None = None, subject: str = "ours") -> Assessment:
    return Assessment(
        query_id="q", subject=subject, judge="m", criterion="c", label=score, score=score, reason=None, error=error
    )


ALL_YES = dict.fromkeys((*BUILT_IN, "polite"), True)

TABLE = [
    # with ground truth: context_sufficiency, groundedness, correctness, safety, custom
    (True, {}, "pass", None),
    (True, {"context_sufficiency": False, "groundedness": False, "correctness": False}, "fail", "context_sufficiency"),
    (True, {"groundedness": False, "correctness": False, "safety": False}, "fail", "groundedness"),
    (True, {"correctness": False, "safety": False, "polite": False}, "fail", "correctness"),
    (True, {"safety": False, "polite": False}, "fail", "safety"),
    (True, {"polite": False}, "fail", "polite"),
    (True, {"chunk_relevance": False, "polite": False}, "fail", "polite"),
    (True, {"chunk_relevance": False, "relevance_to_query": False}, "fail", "chunk_relevance"),
    (True, {"relevance_to_query": False, "correctness": False}, "fail", "correctness"),
    # without: chunk_relevance, groundedness, relevance_to_query, safety, custom
    (False, {"chunk_relevance": False, "groundedness": False, "safety": False}, "fail", "chunk_relevance"),
    (False, {"groundedness": False, "relevance_to_query": False}, "fail", "groundedness"),
    (False, {"relevance_to_query": False, "safety": False}, "fail", "relevance_to_query"),
    (False, {"safety": False, "polite": False}, "fail", "safety"),
    (False, {"polite": False}, "fail", "polite"),
    # a judge that errored: undecided, unless another fails
    (True, {"context_sufficiency": None}, "undecided", None),
    (False, {"safety": None}, "undecided", None),
    (True, {"polite": None}, "undecided", None),
    (True, {"context_sufficiency": None, "safety": False}, "fail", "safety"),
    (True, {"context_sufficiency": False, "safety": None}, "fail", "context_sufficiency"),
]


@pytest.mark.parametrize(("ground_truth", "found", "verdict", "cause"), TABLE)
def test_the_root_cause_is_the_first_that_fails(ground_truth, found, verdict, cause):
    given_backwards = list(reversed(outcomes(**(ALL_YES | found))))
    told = overall(given_backwards, ground_truth=ground_truth)
    assert (told.verdict, told.root_cause) == (verdict, cause)
    assert (told.fix is None) == (cause is None)


def test_custom_judges_are_taken_as_they_come():
    told = overall(outcomes(polite=False, short=False, safety=True), ground_truth=False)
    assert told.failed == ("polite", "short")
    assert told.fix == fix_of("polite")
    assert "polite" in fix_of("polite")


def test_the_rationale_names_cause_fix_the_others_and_what_is_open():
    told = rationale(overall(outcomes(correctness=False, safety=False, groundedness=None), ground_truth=True))
    assert told == (
        f"Root cause: correctness. {fix_of('correctness')} Also failed: safety. Not judged: groundedness (timed out)."
    )
    assert rationale(overall(outcomes(safety=None), ground_truth=True)) == "Undecided. Not judged: safety (timed out)."
    assert rationale(overall(outcomes(safety=True), ground_truth=True)) == ""


names = st.sampled_from([*BUILT_IN, "polite", "short"])
found = st.dictionaries(names, st.sampled_from([True, False, None]))


@given(found, st.booleans())
def test_fail_if_any_fails_pass_if_all_pass(judged, ground_truth):
    told = overall(outcomes(**judged), ground_truth=ground_truth)
    assert (told.verdict == "fail") == (False in judged.values())
    assert (told.verdict == "pass") == (set(judged.values()) == {True}), "what no judge has judged is undecided"
    assert set(told.failed) == {name for name, passed in judged.items() if passed is False}
    assert {name for name, _ in told.errors} == {name for name, passed in judged.items() if passed is None}


@pytest.mark.parametrize(
    ("row", "passed"),
    [
        (assessment(1.0), True),
        (assessment(0.0), False),
        (assessment(0.5), False),
        (assessment(2 / 3), True),
        (assessment(None, "cut off"), None),
    ],
)
def test_an_answer_passes_above_a_half(row, passed):
    told = answer_outcome("polite", row)
    assert told is not None
    assert told.passed is passed


def test_what_is_not_owed_or_has_no_value_does_not_count():
    assert passages_outcome("chunk_relevance", {}) is precision({}) is None
    assert answer_outcome("correctness", None) is None
    assert answer_outcome("groundedness", assessment(None, f"{NO_VALUE}no passage was retrieved")) is None


YES, NO, ERROR = assessment(1.0), assessment(0.0), assessment(None, "cut off")


@pytest.mark.parametrize(
    ("rows", "passed", "share"),
    [
        ({"a": YES, "b": NO, "c": NO}, True, 1 / 3),
        ({"a": NO, "b": NO}, False, 0.0),
        ({"a": YES, "b": YES}, True, 1.0),
        ({"a": NO, "b": ERROR}, None, None),
        ({"a": YES, "b": ERROR}, True, None),
        ({"a": NO, "b": None}, None, None),
    ],
)
def test_passages_pass_with_one_that_is_relevant_and_precision_wants_all(rows, passed, share):
    told = passages_outcome("chunk_relevance", rows)
    assert told is not None
    assert told.passed is passed
    assert (told.error is None) == (passed is not None)
    assert precision(rows) == (None if share is None else pytest.approx(share))


def test_groundedness_has_its_place_under_our_name_too():
    told = overall([Outcome("correctness", False), Outcome("agent_groundedness", False)], ground_truth=True)
    assert told.failed == ("agent_groundedness", "correctness") and "passages" in told.fix
