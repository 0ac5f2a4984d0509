"""Nugget scores against a hand-worked example, and what holds of all of them.

The scores of 301 topics that others computed are checked by benchmarks/judges/nugget_scores.py.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.judging.judges.nuggets import SCORES, Assigned, nugget_scores

assigned = st.builds(
    Assigned,
    st.sampled_from(["vital", "okay"]),
    st.sampled_from(["support", "partial_support", "not_support"]),
)


def test_the_formulas_by_hand():
    """Vital 1, 0.5, 0, 0; okay 1, 0.5: all 3/6, vital 1.5/4, weighted (1.5 + 0.75)/(4 + 1)."""
    marks = ["support", "partial_support", "not_support", "not_support"]
    nuggets = [Assigned("vital", mark) for mark in marks] + [Assigned("okay", mark) for mark in marks[:2]]
    assert nugget_scores(nuggets) == pytest.approx(
        {
            "all": 3 / 6,
            "vital": 1.5 / 4,
            "weighted": 2.25 / 5,
            "strict_all": 2 / 6,
            "strict_vital": 1 / 4,
            "strict_weighted": 1.5 / 5,
        }
    )


def test_a_nugget_without_importance_counts_in_all_alone():
    scores = nugget_scores([Assigned("vital", "support"), Assigned(None, "not_support")])
    assert scores["all"] == 0.5
    assert scores["vital"] == scores["weighted"] == 1


def test_nothing_has_no_score():
    assert nugget_scores([]) == dict.fromkeys(SCORES)
    scores = nugget_scores([Assigned("okay", "partial_support")])
    assert (scores["vital"], scores["strict_vital"], scores["weighted"], scores["strict_weighted"]) == (
        None,
        None,
        0.5,
        0,
    )


@given(st.lists(assigned, min_size=1))
def test_scores_are_shares_and_strict_is_never_more(nuggets):
    scores = nugget_scores(nuggets)
    for name in ("all", "vital", "weighted"):
        strict, loose = scores[f"strict_{name}"], scores[name]
        assert (strict is None) == (loose is None)
        assert loose is None or 0 <= strict <= loose <= 1
    assert set(scores) == set(SCORES)
