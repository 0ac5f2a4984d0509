"""How much of a ranking a variant hands over."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragassay.experiment.workspace import handed_over


@given(st.lists(st.integers(0, 50), max_size=10), st.integers(0, 120), st.integers(1, 12))
def test_as_many_as_fit_is_the_longest_beginning(lengths: list[int], tokens: int, k: int):
    ranking = [f"p{i}" for i in range(len(lengths))]
    n = handed_over(ranking, None, tokens, lambda passage: lengths[int(passage[1:])])
    assert sum(lengths[:n]) <= tokens
    assert n == len(lengths) or sum(lengths[: n + 1]) > tokens
    assert handed_over(ranking, k, None, len) == min(k, len(lengths))
