"""How far the covariance of real queries is drawn towards that of the written ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.arrays import Floats
from ragassay.evaluate.certificate.shrinkage import shrunk

RISING = np.diag([1.0, 2.0, 3.0, 6.0])


def drawn(covariance: Floats, n: int, seed: int) -> Floats:
    """(4, n)"""
    return np.random.default_rng(seed).multivariate_normal(np.zeros(len(covariance)), covariance, n).T


def test_the_weight_is_that_of_schaefer_and_strimmer_element_by_element():
    """Their eq. 8, with the variance of an element of the covariance from its products (their appendix A)."""
    real, written = drawn(RISING, 9, 1), drawn(RISING[::-1, ::-1], 50, 2)
    centred, target = real - real.mean(axis=1, keepdims=True), np.cov(written)
    target *= np.trace(np.cov(real)) / np.trace(target)
    above = below = 0.0
    for i in range(4):
        for j in range(4):
            products = centred[i] * centred[j]
            above += 9 / 8**3 * ((products - products.mean()) ** 2).sum()
            below += (9 / 8 * products.mean() - target[i, j]) ** 2
    found = shrunk(real, written)
    assert found.weight == pytest.approx(above / below) and 0 < found.weight < 1
    expected = (1 - found.weight) * np.cov(real) + found.weight * target
    np.testing.assert_allclose(found.covariance, expected)
    assert found.df == int(8 / (1 - found.weight))


def test_few_real_queries_lean_on_written_ones_and_many_that_differ_do_not():
    of_written = drawn(RISING[::-1, ::-1], 300, 3)
    few, many = (np.mean([shrunk(drawn(RISING, n, seed), of_written).weight for seed in range(20)]) for n in (8, 800))
    assert few > 0.2 and many < 0.02


def test_ten_real_queries_with_sound_written_ones_are_nearer_the_truth_than_alone():
    """What the paper promises: less squared error on average."""
    errors = []
    for seed in range(40):
        real = drawn(RISING, 10, seed)
        found = shrunk(real, drawn(RISING, 150, 1000 + seed)).covariance
        errors.append([((one - RISING) ** 2).sum() for one in (found, np.cov(real))])
    shrunk_error, alone = np.mean(errors, axis=0)
    assert shrunk_error < 0.8 * alone


def test_where_one_side_never_varies_the_other_is_not_made_up():
    real, level = drawn(RISING, 9, 4), np.full((4, 50), 0.5)
    np.testing.assert_allclose(shrunk(real, level).covariance, np.cov(real))
    assert shrunk(real, level).df == 8
    assert (shrunk(level[:, :9], drawn(RISING, 50, 5)).covariance == 0).all()


@given(st.integers(2, 30), st.integers(2, 60), st.integers(0, 1000))
def test_the_total_is_that_of_the_real_queries_and_df_counts_no_more_than_all(n: int, n_written: int, seed: int):
    real, written = drawn(RISING, n, seed), drawn(RISING, n_written, seed + 1)
    found = shrunk(real, written)
    assert np.trace(found.covariance) == pytest.approx(np.trace(np.cov(real)))
    assert n - 1 <= found.df <= n + n_written - 2 and 0 <= found.weight <= 1
