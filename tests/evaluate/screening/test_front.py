"""The front holds whoever no other dominates, by the definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support.screenings import screening

from ragassay.evaluate.screening.screen import front, undominated
from ragassay.evaluate.screening.screened import two_digits

POINTS = st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=25)


@given(POINTS)
def test_the_front_is_what_no_other_dominates(points):
    def dominates(a, b):
        return all(x <= y for x, y in zip(a, b, strict=True)) and a != b

    wanted = [not any(dominates(other, point) for other in points) for point in points]
    assert undominated(np.array(points, dtype=np.float64)).tolist() == wanted


def test_quality_latency_and_tokens_each_earn_a_place_and_the_unknown_none():
    values = [[1, 1, 0.8], [0.5, 0.5, 0.5], [0.4, 0.4, 0.4], [0.4, 0.4, 0.3], [np.nan] * 3]
    found = front(screening(values, latency_s=[0.5, 0.02, 0.5, np.nan, 0.001], tokens=np.array([90, 90, 10, 90, 1])))
    assert found.tolist() == [True, True, True, False, False]


def test_a_latency_that_differs_in_the_third_digit_is_the_same():
    assert two_digits(np.array([0.01234, 0.01199, 0.0, 2.0])).round(6).tolist() == [0.012, 0.012, 0.0, 2.0]
    found = front(screening([[0.9, 0.8], [0.8, 0.8]], latency_s=[0.01204, 0.01201]))
    assert found.tolist() == [True, False]
