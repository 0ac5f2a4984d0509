"""The energy distance, held against SciPy's, a closed form, and what it must be."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import energy_distance as of_scipy

from ragassay.synth.choosing.features import Sample, energy_distance

lines = st.lists(st.integers(-50, 50).map(float), min_size=1, max_size=12)


def line(values: list[float]) -> Sample:
    return Sample.even(np.array(values).reshape(-1, 1))


@given(lines, lines)
def test_on_a_line_its_root_is_scipys(one: list[float], other: list[float]) -> None:
    assert np.isclose(max(energy_distance(line(one), line(other)), 0) ** 0.5, of_scipy(one, other), atol=1e-6)


def test_of_single_points_it_is_twice_their_distance() -> None:
    one, other = Sample.even(np.array([[0.0, 0.0]])), Sample.even(np.array([[3.0, 4.0]]))
    assert energy_distance(one, other) == 10


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=1, max_size=10))
def test_equal_samples_are_nothing_apart(rows: list[tuple[int, int]]) -> None:
    points = np.array(rows, float)
    assert abs(energy_distance(Sample.even(points), Sample.even(points[::-1]))) < 1e-6


def test_weights_are_copies() -> None:
    """A point of weight 3/4 is three copies of it among four."""
    mixed = Sample.mixed(np.array([[1.0]]), np.array([[5.0]]), 0.75)
    assert np.isclose(energy_distance(mixed, line([2, 7])), energy_distance(line([1, 1, 1, 5]), line([2, 7])))
