"""Boxes: Tukey's by hand, and what holds of every one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.figures.query_values import box
from ragassay.records import Figure

MEAN = Figure(value=0.5, n=3)


def by_query(*values: float | None) -> dict[str, float | None]:
    return {f"q{i}": value for i, value in enumerate(values)}


def test_ten_values_by_hand() -> None:
    # numpy's default: the quartiles of n sorted values stand at (n - 1) / 4, here between the 3rd and the 4th
    found = box(by_query(9, 8, 7, 6, 5, 4, 3, 2, 1, 16), MEAN, (0, 100))
    assert (found.q1, found.median, found.q3) == (3.25, 5.5, 7.75)
    assert (found.low_whisker, found.high_whisker, found.outliers) == (1, 9, (16,))  # fences at -3.5 and 14.5
    assert (found.minimum, found.maximum, found.lowest, found.highest, found.n) == (1, 16, 0, 100, 10)
    assert found.mean == MEAN


def test_failures_are_counted_and_no_values_is_no_box() -> None:
    assert (box(by_query(0.5, None, None), MEAN).n, box(by_query(0.5, None, None), MEAN).n_failed) == (1, 2)
    empty = box(by_query(None), Figure(value=None, n=0, n_failed=1))
    assert (empty.n, empty.n_failed, empty.median, empty.outliers) == (0, 1, None, ())


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30))
def test_a_quarter_lies_on_each_side_of_the_box_and_none_is_lost(values: list[float]) -> None:
    found = box(by_query(*values), MEAN)
    ends = [found.minimum, found.low_whisker, found.q1, found.median, found.q3, found.high_whisker, found.maximum]
    assert ends[0] <= ends[1] and ends[2] <= ends[3] <= ends[4] and ends[5] <= ends[6]
    inside = [v for v in values if found.low_whisker - 1e-9 <= v <= found.high_whisker + 1e-9]
    assert len(inside) + len(found.outliers) == len(values)
    quarter = (len(values) - 1) // 4 + 1
    assert sum(v < found.q1 - 1e-8 for v in values) <= quarter and sum(v > found.q3 + 1e-8 for v in values) <= quarter
