"""The statistics behind `question_worth`, on matrices whose answers are known from elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_rel

from benchmarks.question_worth.measured import Words, measure
from ragassay.evaluate.inputs.clusters import ALONE, Clusters
from ragassay.evaluate.validity.people import crossing, decisions, sample_sizes, shares, worth
from ragassay.evaluate.validity.questions import Scores


def scores(values: np.ndarray, clusters: list[str] | None = None) -> Scores:
    ids = [f"q{n}" for n in range(values.shape[1])]
    return Scores(values, ALONE.of(ids) if clusters is None else Clusters.named(ids, clusters))


def drawn(n: int, seed: int, spread: float = 0.3) -> np.ndarray:
    """(8 retrievers, n queries): each retriever .03 better than the one before, beside much chance."""
    chance = np.random.default_rng(seed).normal(0, spread, (8, n))
    return 0.4 + 0.03 * np.arange(8)[:, None] + chance


def test_a_pair_is_decided_where_scipys_paired_test_is_below_five_percent():
    values = drawn(60, 1)
    found = decisions(scores(values))
    first, second = np.triu_indices(8, 1)
    expected = [ttest_rel(values[a], values[b]) for a, b in zip(first, second, strict=True)]
    assert found.tolist() == [np.sign(test.statistic) if test.pvalue < 0.05 else 0.0 for test in expected]
    assert {-1.0, 0.0} <= set(found.tolist())


def test_questions_of_one_source_count_less_than_as_many_of_their_own():
    once, thrice = drawn(30, 4), np.repeat(drawn(30, 4), 3, axis=1)
    sources = [str(n // 3) for n in range(90)]
    decided = [np.abs(decisions(one)).sum() for one in (scores(thrice, sources), scores(once), scores(thrice))]
    assert 0 < decided[0] <= decided[1] < decided[2]


def test_shares_of_the_pairs_that_people_decide():
    found = shares(np.array([1, 1, -1, -1, 0.0]), np.array([1, -1, -1, 0, 1.0]))
    assert (found.decided, found.contradicted) == (0.75, pytest.approx(1 / 3))
    assert np.isnan(shares(np.zeros(3), np.ones(3)).decided)


def test_a_set_that_reverses_people_is_worth_nothing():
    values = drawn(80, 2)
    kinds = {"same": scores(values), "reversed": scores(1 - values)}
    words = Words(np.full(80, 0.5), dict.fromkeys(kinds, np.full(80, 0.5)))
    found = measure([f"r{n}" for n in range(8)], scores(values), kinds, words, resamples=60, seed=7)
    same, reverse = found["same"], found["reversed"]
    assert (same.tau.value, same.rho.value, same.decided.value, same.contradicted.value) == (1.0, 1.0, 1.0, 0.0)
    assert (reverse.tau.value, reverse.rho.value, reverse.contradicted.value) == (-1.0, -1.0, 1.0)
    assert (same.place.value, reverse.place.value) == (1.0, 8.0)
    assert reverse.loss.value == pytest.approx(np.ptp(values.mean(axis=1)))
    assert (same.worth.bound, same.worth.value, same.worth.ci_high) == ("more than", 40.0, None)
    assert (reverse.worth.bound, reverse.worth.value, reverse.worth.ci_low) == ("fewer than", 5.0, None)
    assert reverse.worth_by_loss.bound == "fewer than"


def test_where_a_lead_comes_to_zero_on_the_logarithm_of_sizes():
    sizes = np.array([5, 10, 40])
    assert crossing(sizes, np.array([-0.2, -0.1, 0.1])) == pytest.approx(20.0)
    assert crossing(sizes, np.array([0.1, 0.2, 0.3])) == 5.0
    assert crossing(sizes, np.array([-0.3, -0.2, -0.1])) is None
    assert sample_sizes(300).tolist()[0::11] == [5, 150] and sample_sizes(20).tolist() == [5, 6, 7, 8, 9, 10]


def test_forty_more_of_peoples_queries_are_worth_about_forty():
    kinds = {str(seed): scores(drawn(40, 100 + seed)) for seed in range(40)}
    found = worth(scores(drawn(400, 5)), kinds, seed=7, resamples=2)
    values = np.log([[by_tau.value, by_loss.value] for by_tau, by_loss in found.values()])
    assert 28 < np.exp(values[:, 0].mean()) < 56
    assert 20 < np.exp(values[:, 1].mean()) < 80, "what one choice loses is all or nothing, and tells less"
