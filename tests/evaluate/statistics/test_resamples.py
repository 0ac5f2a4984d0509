"""Intervals over queries in sections, their resamples, and paired t-tests."""

from __future__ import annotations

from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm, t

from ragassay.evaluate.statistics.resamples import resamples
from ragassay.evaluate.statistics.sign_flip import paired_test, rag_tests


def named(values):
    return {f"q{n:03d}": value for n, value in enumerate(values)}


def test_the_interval_of_a_mean_without_limits_is_students_and_near_it_that_of_resamples():
    """Hesterberg 2015: the expanded percentile interval is the t interval where the mean is normal."""
    values = norm.ppf((np.arange(30) + 0.5) / 30)
    draws = resamples(list(named(values)), 20_000, 7)
    figure = draws.figure(named(values.tolist()))
    half = t.ppf(0.975, 29) * values.std(ddof=1) / np.sqrt(30)
    assert (figure.ci_low, figure.ci_high) == pytest.approx((-half, half), abs=1e-8)
    assert draws.interval(draws.weights @ values / 30, 30) == pytest.approx((-half, half), rel=0.03)


def test_a_rating_that_no_resample_moves_has_no_interval():
    draws = resamples(list(named(range(12))), 200, 7)
    assert draws.interval(np.full(200, 500.0), 12) == (500.0, 500.0)
    assert draws.rating_interval(np.full(200, 500.0), 12) == (None, None)


def test_like_observations_have_the_exact_binomial_limit():
    draws, low = resamples(list(named(range(12))), 200, 7), binomtest(12, 12).proportion_ci(method="exact").low
    cases = ((1.0, (0, 1), low, 1), (0.0, (0, 1), 0, 1 - low), (2.0, (0, 2), 2 * low, 2), (1.0, (0, 2), low, 2 - low))
    for value, limits, *ends in cases:
        figure = draws.figure(named([value] * 12), limits)
        assert [figure.ci_low, figure.ci_high] == pytest.approx(ends, abs=1e-9)
    assert draws.figure(named([1.0] * 12)).ci_low is None


def test_what_failed_is_counted_and_not_averaged():
    figure = resamples(list(named(range(5))), 200, 7).figure(named([1.0, None, 0.0, None, None]), (0, 1))
    assert (figure.value, figure.n, figure.n_failed) == (0.5, 2, 3)
    nothing = resamples(["q000"], 200, 7).figure({"q000": None})
    assert nothing.model_dump() == {"value": None, "n": 0, "n_failed": 1, "ci_low": None, "ci_high": None}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.integers(0, 100))
def test_the_interval_holds_the_mean_and_stays_in_range(values, seed):
    figure = resamples(list(named(values)), 100, seed).figure(named(values), (0, 1))
    assert figure.value == pytest.approx(fmean(values), abs=1e-8)
    if figure.ci_low is not None:
        assert -1e-9 <= figure.ci_low <= figure.ci_high <= 1 + 1e-9


def test_draws_do_not_depend_on_the_order_of_the_queries():
    one, two = resamples(["b", "a", "c"], 100, 7), resamples(["c", "b", "a"], 100, 7)
    assert one.queries == two.queries and np.array_equal(one.weights, two.weights)
    assert set(one.weights.sum(axis=1)) == {3}
    assert not np.array_equal(one.weights, resamples("abc", 100, 8).weights)


def test_no_query_at_all():
    assert resamples([], 100, 7).figure({}).value is None


SLEEP = ([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0], [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
"""Student (1908), Biometrika 6: extra hours of sleep under two drugs; R's `sleep`."""


def test_students_sleep_data():
    """R: t.test(..., paired = TRUE): t = -4.0621, df = 9, p-value = 0.002833, interval -2.4598858 to -0.7001142."""
    test = paired_test("sleep", "one", named(SLEEP[0]), "two", named(SLEEP[1]))
    assert (round(test.t, 4), test.df, round(test.p, 6)) == (-4.0621, 9, 0.002833)
    assert test.difference.value == pytest.approx(-1.58)
    assert test.difference.ci_low == pytest.approx(-2.4598858, abs=1e-7)
    assert test.difference.ci_high == pytest.approx(-0.7001142, abs=1e-7)


def test_pairs_are_matched_by_query_and_what_failed_on_one_side_is_counted():
    one, two = named(SLEEP[0]), dict(reversed(named(SLEEP[1]).items()))
    whole = paired_test("m", "one", one, "two", two)
    part = paired_test("m", "one", one | {"x": 9.0, "y": None}, "two", two | {"x": None})
    assert (part.t, part.p, part.difference.n, part.difference.n_failed) == (whole.t, whole.p, 10, 2)


@pytest.mark.parametrize("gaps", [[], [1.0], [0.5, 0.5, 0.5], [0.0, 0.0]])
def test_undefined_tests_have_no_p(gaps):
    test = paired_test("m", "one", named(gaps), "two", named([0.0] * len(gaps)))
    assert (test.t, test.p, test.difference.ci_low) == (None, None, None)
    assert test.difference.value == (gaps[0] if gaps else None)


def test_rag_is_paired_with_rag_fusion_over_the_same_retriever():
    agents = [("a", "bm25", "rag"), ("b", "knn", "rag"), ("c", "bm25", "rag-fusion")]
    tests = rag_tests(agents, {"m": {agent: named([1.0, 2.0]) for agent in "abc"}})
    assert [(test.agent_a, test.agent_b) for test in tests] == [("a", "c")]
