"""Degrees of freedom of clusters of unequal size: against the distribution of t worked out another way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import t

from ragassay.evaluate.statistics.clustered import degrees_of_freedom


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


def test_t_of_simulated_sections_is_beyond_in_5_percent():
    """Eight sections of twenty and forty-four of one, as 100,000 normal test sets have it."""
    sizes = np.repeat([20.0, 1.0], [8, 44])
    share, df = sizes / sizes.sum(), float(degrees_of_freedom(sizes))
    sums = np.random.default_rng(1).normal(size=(100_000, 52)) * sizes
    means = sums.sum(axis=1) / sizes.sum()
    errors = np.sqrt(((sums - means[:, None] * sizes) ** 2 / (1 - share)).sum(axis=1)) / sizes.sum()
    assert (np.abs(means) > t.ppf(0.975, df) * errors).mean() == pytest.approx(0.05, abs=0.002)


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


@given(st.lists(st.integers(1, 30), min_size=2, max_size=12))
def test_what_is_asked_twice_counts_once(sizes):
    counts = np.array(sizes, dtype=np.float64)
    assert float(degrees_of_freedom(2 * counts)) == pytest.approx(float(degrees_of_freedom(counts)), rel=1e-9)


def test_no_cluster_has_none():
    assert np.isnan(degrees_of_freedom(np.zeros(0))) and degrees_of_freedom(np.ones((0, 4))).shape == (0,)
