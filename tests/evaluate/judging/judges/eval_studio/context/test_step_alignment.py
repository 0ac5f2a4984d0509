"""Step alignment and completeness: an example by hand, nltk's edit distance, and the best order by trying all."""

from __future__ import annotations

from itertools import combinations, groupby

import nltk
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.item_replies import items
from support.verdict_bench import asked, judge_one

from ragassay.evaluate.judging.judges.eval_studio.context import edits, in_order

NAME = "step_alignment_and_completeness"
PROCEDURE = ["Switch it off.", "Open the lid.", "Take out the card.", "Close the lid."]


def replies(given, wanted=PROCEDURE):
    """The answer's steps are `given`, the passages' `wanted`; a step is the one of the same words."""

    def pairs(text):
        numbers = [wanted.index(step) + 1 if step in wanted else 0 for step in items("sentence", text)]
        return {f"item_{i}": {"reason": "So.", "label": number} for i, number in enumerate(numbers, 1)}

    return {"steps": lambda text: {"steps": wanted if "<passage" in text else given}, "items": pairs}


def values(rows):
    return tuple(rows[name].label for name in ("step_alignment", "step_completeness", "step_edits"))


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (PROCEDURE, (1, 1, 0)),
        ([*PROCEDURE[:1], "Ring us.", *PROCEDURE[1:3]], (3 / 4, 3 / 4, 2)),
        ([PROCEDURE[1], PROCEDURE[0], *PROCEDURE[2:]], (3 / 4, 1, 2)),
        ([PROCEDURE[0], PROCEDURE[0], PROCEDURE[1]], (1, 2 / 4, 2)),
        (["Ring us."], (0, 0, 4)),
        ([], (None, 0, 4)),
    ],
)
def test_by_hand(bench, monkeypatch, steps, expected):
    """One step added and one left out; two exchanged; one said twice; none of them; no steps at all."""
    rows = judge_one(bench, monkeypatch, NAME, replies(steps), answer="Do this.")
    assert values(rows) == expected and rows["step_edits"].score is None
    assert [d["is"] for d in rows["step_alignment"].details if "is" in d] == [
        PROCEDURE.index(step) + 1 if step in PROCEDURE else None for step in steps
    ]


def test_against_the_expected_response(bench, monkeypatch):
    lines = (f"[evaluate.settings.{NAME}]", 'against = "expected_response"')
    rows = judge_one(bench, monkeypatch, NAME, replies(PROCEDURE), *lines, expected="Do that.", passages=[])
    assert values(rows) == (1, 1, 0) and not any("<passage" in text for text in asked(bench))


@pytest.mark.parametrize(
    ("case", "why"), [({"passages": []}, "no passage was retrieved"), ({"answer": "…"}, "the answer holds no words")]
)
def test_nothing_to_compare_has_no_value(bench, monkeypatch, case, why):
    rows = judge_one(bench, monkeypatch, NAME, replies(PROCEDURE), **case)
    assert {row.error for row in rows.values()} == {f"no value: {why}"} and not asked(bench)


def test_passages_without_a_procedure_give_no_value(bench, monkeypatch):
    rows = judge_one(bench, monkeypatch, NAME, replies(PROCEDURE, wanted=[]))
    assert {row.error for row in rows.values()} == {"no value: no procedure is described"}


numbers = st.lists(st.integers(0, 5), max_size=8)


@given(numbers, st.integers(1, 5))
def test_edits_are_the_edit_distance_of_the_two_lists(pairs, n):
    merged = [one for number, some in groupby(pairs) for one in (list(some) if number == 0 else [number])]
    assert edits(pairs, n) == nltk.edit_distance(merged, list(range(1, n + 1)))


@given(numbers)
def test_no_choice_of_steps_in_order_is_longer(pairs):
    known = [pair for pair in pairs if pair]
    chosen = (some for size in range(len(known) + 1) for some in combinations(known, size))
    assert in_order(pairs) == max(len(some) for some in chosen if list(some) == sorted(some))
