"""Thresholds from people's labels: held against scikit-learn over every threshold there is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score

from ragassay.evaluate.agreement.calibrate import best_threshold, choosing_half, cuts, reaches
from ragassay.evaluate.agreement.coefficients import balanced_accuracy, crosstab

THEIRS = {"kappa": cohen_kappa_score, "balanced_accuracy": balanced_accuracy_score}
rows = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.sampled_from([0.02, 0.1, 0.31, 0.34, 0.5, 0.77, 0.9])),
    min_size=4,
    max_size=40,
).filter(lambda drawn: len({yes for yes, _, _ in drawn}) == 2)


@given(rows)
def test_balanced_accuracy_is_scikit_learns(drawn: list[tuple[bool, bool, float]]):
    people, judge, _ = (np.array(column) for column in zip(*drawn, strict=True))
    table = crosstab(people.astype(np.intp), judge.astype(np.intp), np.zeros(len(people), dtype=np.intp), 2)
    found = balanced_accuracy(table, table.counts(np.ones(1)))
    assert float(found) == pytest.approx(balanced_accuracy_score(people, judge))


def test_balanced_accuracy_needs_both_yes_and_no():
    table = crosstab([1, 1], [0, 1], np.zeros(2, dtype=np.intp), 2)
    assert np.isnan(balanced_accuracy(table, table.counts(np.ones(1))))


@given(rows, st.sampled_from(["kappa", "balanced_accuracy"]))
def test_no_threshold_does_better_than_the_best(drawn: list[tuple[bool, bool, float]], aim: str):
    people, now, scores = (np.array(column) for column in zip(*drawn, strict=True))
    parting = [t for t in (0.05, 0.2, 0.32, 0.4, 0.6, 0.8) if 0 < (scores >= t).sum() < len(scores)]
    worth = max((THEIRS[aim](people, scores >= t) for t in parting), default=-1.0)
    found = best_threshold(people, scores, now, False, aim)  # type: ignore[arg-type]
    before = THEIRS[aim](people, now)
    if found is None:
        assert worth <= before + 1e-9
    else:
        assert THEIRS[aim](people, scores >= found) == pytest.approx(worth)
        assert worth > before


def test_a_threshold_has_as_few_digits_as_lie_between_two_scores():
    assert cuts(np.array([0.1, 0.9, 0.62, 0.6, 0.6199]), False) == [0.3, 0.61, 0.61995, 0.8]
    assert cuts(np.array([2.0, 0.0, 1.0, 1.0]), True) == [1.0, 2.0]
    assert cuts(np.array([0.4, 0.4]), False) == []


def test_a_score_at_the_threshold_is_a_yes_also_where_the_last_digit_is_lost():
    assert reaches(np.array([0.1 + 0.2, 0.3, 0.29999]), 0.3).tolist() == [True, True, False]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(0, 99))
def test_halves_keep_clusters_whole_and_are_as_equal_as_these_let_them(numbers: list[int], seed: int):
    clusters = [f"q{number}" for number in numbers]
    chosen = choosing_half(clusters, seed)
    sides = ({name for name, on in zip(clusters, chosen, strict=True) if on == side} for side in (True, False))
    assert not set.intersection(*sides)
    largest = max(clusters.count(name) for name in clusters)
    assert abs(2 * int(chosen.sum()) - len(clusters)) <= largest
    assert (choosing_half(list(reversed(clusters)), seed) == chosen[::-1]).all()


def test_another_seed_makes_other_halves():
    clusters = [f"q{number}" for number in range(40)]
    assert len({choosing_half(clusters, seed).tobytes() for seed in range(20)}) == 20
