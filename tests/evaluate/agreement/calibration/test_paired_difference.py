"""The interval of a difference, by closed forms that it must come down to."""

from __future__ import annotations

import numpy as np
import pytest

from ragassay.evaluate.agreement.calibrate import paired_difference
from ragassay.records import Figure


def figure(value: float | None, reach: float | None = None) -> Figure:
    ends = {} if value is None or reach is None else {"ci_low": value - reach, "ci_high": value + reach}
    return Figure(value=value, n=50, n_failed=3, **ends)


def replicates(r: float) -> tuple[np.ndarray, np.ndarray]:
    """Two columns whose correlation is exactly r."""
    x, z = np.array([1.0, -1, 1, -1]), np.array([1.0, 1, -1, -1])
    return x, r * x + np.sqrt(1 - r**2) * z


@pytest.mark.parametrize("r", [0.0, 0.5, 0.9])
def test_of_symmetric_intervals_it_is_the_variance_of_a_difference(r: float):
    found = paired_difference(figure(0.7, 0.1), figure(0.4, 0.2), replicates(r))
    reach = np.sqrt(0.1**2 + 0.2**2 - 2 * r * 0.1 * 0.2)
    assert (found.value, found.n, found.n_failed) == (pytest.approx(0.3), 50, 3)
    assert (found.ci_low, found.ci_high) == (pytest.approx(0.3 - reach), pytest.approx(0.3 + reach))


def test_of_skewed_intervals_each_end_is_of_the_reaches_that_face_each_other():
    a = Figure(value=0.8, n=9, ci_low=0.5, ci_high=0.9)
    b = Figure(value=0.2, n=9, ci_low=0.1, ci_high=0.6)
    found = paired_difference(a, b, replicates(0.0))
    assert (found.ci_low, found.ci_high) == (pytest.approx(0.6 - 0.5), pytest.approx(0.6 + 0.1 * 2**0.5))


def test_what_has_no_value_or_no_interval_has_none():
    assert paired_difference(figure(None), figure(0.4, 0.2), replicates(0.5)).value is None
    bare = paired_difference(figure(0.7), figure(0.4, 0.2), replicates(0.5))
    assert (bare.value, bare.ci_low, bare.ci_high) == (pytest.approx(0.3), None, None)
    flat = (np.ones(4), replicates(0.0)[1])
    assert paired_difference(figure(0.7, 0.3), figure(0.4, 0.4), flat).ci_low == pytest.approx(0.3 - 0.5)
