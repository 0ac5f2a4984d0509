"""Intervals of means over queries in sections: closed forms, other ways to them, and properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import t

from ragassay.evaluate.inputs.clusters import Clusters, clusters_of_rows
from ragassay.evaluate.statistics.clustered import degrees_of_freedom, effective_queries, estimate, intervals
from ragassay.evaluate.statistics.resamples import resamples


def together(cluster):
    """The clusters that these numbers tell."""
    return clusters_of_rows([f"{number:04d}" for number in cluster])


def cr2_by_matrices(values, cluster):
    """CR2 of an intercept from its definition (Bell and McCaffrey 2002)."""
    n, x = len(values), np.ones((len(values), 1))
    hat = np.eye(n) - x @ x.T / n
    residuals, variance = values - values.mean(), 0.0
    for name in sorted(set(cluster)):
        own = np.flatnonzero(cluster == name)
        eigenvalues, vectors = np.linalg.eigh(hat[np.ix_(own, own)])
        root = vectors @ np.diag(eigenvalues**-0.5) @ vectors.T
        variance += float((x[own].T @ root @ residuals[own] / n)[0] ** 2)
    return np.sqrt(variance)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=4, max_size=25))
def test_the_error_is_bell_and_mccaffreys(rows):
    values, cluster = np.array([value for value, _ in rows]), np.array([name for _, name in rows])
    if len(set(cluster.tolist())) < 2:
        return
    clusters = together(cluster)
    found = estimate(clusters.sums(values), clusters.sizes)
    assert float(found.error) == pytest.approx(cr2_by_matrices(values, cluster), abs=1e-9)


def test_with_sections_of_one_size_it_is_students_interval_of_the_section_means():
    values = np.random.default_rng(1).normal(size=30)
    value, low, high = intervals(values, np.ones(30), together(np.arange(30) // 5), None)
    means = values.reshape(6, 5).mean(axis=1)
    ends = t.interval(0.95, 5, means.mean(), means.std(ddof=1) / np.sqrt(6))
    assert (float(value), float(low), float(high)) == pytest.approx((means.mean(), *ends))


def test_the_jackknife_error_is_the_jackknifes():
    """Efron and Tibshirani (1993), eq. 11.5, around the whole mean, without its factor (G - 1) / G."""
    values = np.random.default_rng(2).normal(size=20)
    sums = values.reshape(5, 4).sum(axis=1)
    left_out = (sums.sum() - sums) / 16
    found = estimate(sums, np.full(5, 4.0))
    jackknife = np.sqrt(((left_out - sums.sum() / 20) ** 2).sum())
    assert float(found.jackknife_error) == pytest.approx(jackknife)


@given(st.lists(st.sampled_from([0.0, 0.2, 0.5, 1.0]), min_size=2, max_size=40), st.integers(1, 5))
def test_an_interval_within_limits_holds_the_mean_has_width_and_stays_inside(values, each):
    scores, cluster = np.array(values), np.arange(len(values)) // each
    value, low, high = intervals(scores, np.ones(len(values)), together(cluster), (0.0, 1.0))
    if cluster.max() == 0:
        assert np.isnan(low) and np.isnan(high)
        return
    assert 0 <= low <= value + 1e-12 and value - 1e-12 <= high <= 1 and high - low > 1e-3


def test_where_all_that_differs_differs_the_same_way_the_far_end_is_the_logit_scales():
    """Three of twenty queries are won: as a share, p = .15 with s / sqrt(n), on the logit scale by the delta method."""
    gaps = np.repeat([1.0, 0.0], [3, 17])
    _, low, high = intervals(gaps, np.ones(20), together(np.arange(20)), (-1.0, 1.0), difference=True)
    error, quantile = gaps.std(ddof=1) / np.sqrt(20), t.ppf(0.975, 19)
    odds = 0.15 / 0.85 * np.exp(quantile * error / (0.15 * 0.85))
    assert (float(low), float(high)) == pytest.approx((0.15 - quantile * error, odds / (1 + odds)))
    back = intervals(-gaps, np.ones(20), together(np.arange(20)), (-1.0, 1.0), difference=True)
    assert (float(back[1]), float(back[2])) == pytest.approx((-float(high), -float(low)))


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=4, max_size=30), st.integers(1, 3))
def test_a_difference_has_at_least_students_interval(gaps, each):
    values, cluster = np.array(gaps), np.arange(len(gaps)) // each
    if cluster.max() == 0 or np.ptp(values) == 0:
        return
    _, low, high = intervals(values, np.ones(len(gaps)), together(cluster), (-1.0, 1.0), difference=True)
    _, plain_low, plain_high = intervals(values, np.ones(len(gaps)), together(cluster), None)
    both_ways = values.min() < 0 < values.max()
    near = 1e-9 if both_ways else 2.0
    for end, plain in ((-low, -plain_low), (high, plain_high)):
        assert min(plain, 1.0) - 1e-9 <= end <= plain + near


def test_like_queries_of_one_section_are_worth_less():
    assert effective_queries(np.ones(30)) == 30
    assert effective_queries(np.full(6, 5.0)) == pytest.approx(10)


def test_sections_agreeing_by_chance_do_not_make_an_interval_without_width():
    scores = np.tile([0.0, 1.0], 6)
    pairs, alone = (intervals(scores, np.ones(12), together(np.arange(12) // each), (0.0, 1.0)) for each in (2, 1))
    assert pairs == pytest.approx(alone)


def test_sections_are_drawn_whole():
    names, sections = [f"q{n}" for n in range(12)], {f"q{n}": f"s{n // 4}" for n in range(8)}
    draws = resamples(names, 300, 7, Clusters.named(list(sections), list(sections.values())))
    at = {name: index for index, name in enumerate(draws.queries)}
    for first in ("q0", "q4"):
        own = [at[name] for name in names if sections.get(name) == sections[first]]
        assert all(np.array_equal(draws.weights[:, own[0]], draws.weights[:, index]) for index in own)
    assert draws.interval(np.arange(300.0), 12) == resamples("abcdef", 100, 7).interval(np.arange(300.0), 6)


def test_in_the_middle_a_means_interval_is_students_on_the_logit_scale():
    """Half of forty are right: p = .5 with s / sqrt(n), by the delta method."""
    values = np.tile([0.0, 1.0], 20)
    _, low, high = intervals(values, np.ones(40), together(np.arange(40)), (0.0, 1.0))
    reach = t.ppf(0.975, 39) * values.std(ddof=1) / np.sqrt(40) / 0.25
    assert (float(low), float(high)) == pytest.approx((1 / (1 + np.exp(reach)), 1 / (1 + np.exp(-reach))))


@pytest.mark.parametrize("wrong", [2, 3, 6])
def test_near_a_limit_the_far_end_lies_farther_but_not_by_much(wrong):
    """Beyond Student's on the logit scale, by at most half of what Student's end lies from the mean."""
    values = np.array([0.0] * wrong + [1.0] * (60 - wrong))
    _, low, high = intervals(values, np.ones(60), together(np.arange(60)), (0.0, 1.0))
    p = 1 - wrong / 60
    reach = t.ppf(0.975, 59) * values.std(ddof=1) / np.sqrt(60) / (p * (1 - p))
    logit = 1 / (1 + (1 - p) / p * np.exp(reach))
    assert logit - (p - logit) / 2 < float(low) < logit - 1e-4
    assert p < float(high) < 1


NEAR_NO_SPREAD = st.floats(0, 1) | st.integers(0, 40).map(lambda n: n * 1e-13 + n % 2 / 2)


@given(
    st.lists(NEAR_NO_SPREAD, min_size=3, max_size=20),
    st.sampled_from([(0.0, 1.0), (0.0, 2.0), (0.0, 3.0), (-1.0, 1.0), None]),
    st.integers(1, 3),
)
@example([0, 0, 1e-12], (0.0, 1.0), 2)
@example([0, 0, 2e-12], (-1.0, 1.0), 1)
def test_values_turned_round_have_the_interval_turned_round(values, limits, each):
    """Scores of a scale from 0, and differences."""
    difference, top = limits is None or limits[0] < 0, sum(limits or (0.0,))
    scores = np.array(values) - values[-1] if difference else np.array(values) * top
    clusters = together(np.arange(len(values)) // each)
    _, low, high = intervals(scores, np.ones(len(values)), clusters, limits, difference=difference)
    _, back_low, back_high = intervals(top - scores, np.ones(len(values)), clusters, limits, difference=difference)
    turned = (top - float(back_high), top - float(back_low))
    assert (float(low), float(high)) == pytest.approx(turned, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("times", [2.0, 1e6, 1e-6])
@pytest.mark.parametrize("values", [[0, 0, 5e-13], [0, 3e-13, 7e-13], [0, 1, 0.5], [0.5, 0.5 + 3e-12, 0.5]])
def test_what_counts_as_no_spread_is_a_share_of_the_scale(values, times):
    """Scores of another unit have the interval in that unit."""
    clusters = together(np.arange(3))
    found = intervals(np.array(values), np.ones(3), clusters, (0.0, 1.0))
    wide = intervals(np.array(values) * times, np.ones(3), clusters, (0.0, times))
    assert np.array(wide) / times == pytest.approx(np.array(found), abs=1e-6)


def beyond(quantile, sizes):
    """P(|t| > quantile) of a mean of normal values, alike in a cluster, with its CR2 error: Imhof (Biometrika 48, 1961,
    eq. 3.2), from the eigenvalues of T² - quantile² sum(r² / (1 - share))."""
    share, total = sizes / sizes.sum(), sizes / np.sqrt((sizes**2).sum())
    residuals = (np.eye(len(sizes)) - np.outer(share, np.ones(len(sizes)))) * total
    form = np.outer(total, total) - quantile**2 * residuals.T @ np.diag(1 / (1 - share)) @ residuals
    roots = np.linalg.eigvalsh(form)
    roots = roots[np.abs(roots) > 1e-12] / np.abs(roots).max()

    def integrand(log_u):
        u = np.exp(log_u)
        return np.sin(0.5 * np.arctan(roots * u).sum()) / np.prod((1 + roots**2 * u**2) ** 0.25)

    return 0.5 + quad(integrand, -30, 25, limit=2000, epsabs=1e-8)[0] / np.pi


@given(st.lists(st.integers(1, 30), min_size=3, max_size=12))
def test_student_with_these_has_95_percent_where_t_has(sizes):
    df = float(degrees_of_freedom(np.array(sizes, dtype=np.float64)))
    assert beyond(t.ppf(0.975, df), np.array(sizes, dtype=np.float64)) == pytest.approx(0.05, abs=2e-4)


@given(st.integers(2, 50), st.sampled_from([1.0, 5.0, 0.3]))
def test_clusters_of_one_size_have_the_textbooks(n, size):
    assert float(degrees_of_freedom(np.append(np.full(n, size), 0.0))) == n - 1


@given(st.lists(st.integers(0, 9), min_size=2, max_size=20), st.integers(0, 3))
def test_they_hang_on_the_sizes_alone_and_are_fewer_than_the_clusters(sizes, empty):
    counts = np.array(sizes, dtype=np.float64)
    found = degrees_of_freedom(np.array([[*counts, *[0.0] * empty], [*[0.0] * empty, *counts[::-1]]]))
    if (counts > 0).sum() < 2:
        assert np.isnan(found).all()
    else:
        assert found[0] == found[1] and 0 < found[0] <= (counts > 0).sum() - 1


def test_no_cluster_has_none():
    assert np.isnan(degrees_of_freedom(np.zeros(0))) and degrees_of_freedom(np.ones((0, 4))).shape == (0,)
