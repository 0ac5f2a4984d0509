"""MMR and a threshold."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ragassay.retrieval.rerankers.opening import above, mmr

QUERY = np.array([1.0, 0.0])
VECTORS = {"a": np.array([2.0, 0.2]), "twin": np.array([1.0, 0.11]), "c": np.array([1.0, -1.0])}
RANKING = [("a", 9.0), ("twin", 8.0), ("c", 7.0)]


def test_a_twin_comes_after_what_says_something_else():
    # by hand: sim to the query .99504, .99401, .70711; sim(a, twin) .99995, sim(a, c) .63324, lambda .5
    got = mmr(RANKING, QUERY, VECTORS, 0.5)
    assert [passage for passage, _ in got] == ["a", "c", "twin"]
    assert got[0][1] == pytest.approx(0.5 * 0.99504, abs=1e-4)
    assert got[1][1] == pytest.approx(0.5 * (0.70711 - 0.63324), abs=2e-4)
    assert got[2][1] == pytest.approx(0.5 * (0.99401 - 0.99995), abs=2e-4)


@given(arrays(np.float64, (6, 3), elements=st.floats(-1, 1)), st.floats(0, 1), st.integers(0, 8))
def test_mmr_takes_each_passage_once_in_falling_worth(rows, lam, k):
    ranking = [(f"p{i}", 1.0 / (i + 1)) for i in range(5)]
    vectors = {f"p{i}": rows[i] for i in range(5)}
    got = mmr(ranking, rows[5], vectors, lam, k)
    assert len(got) == min(k, 5) == len({passage for passage, _ in got})
    assert all(one >= other for (_, one), (_, other) in pairwise(got))
    assert got == mmr(ranking, rows[5], vectors, lam)[:k]


@given(arrays(np.float64, (6, 3), elements=st.floats(0.1, 1)))
def test_lambda_one_is_the_order_by_cosine(rows):
    ranking = [(f"p{i}", 0.0) for i in range(5)]
    got = mmr(ranking, rows[5], {f"p{i}": rows[i] for i in range(5)}, 1.0)
    cosine = rows[:5] @ rows[5] / np.linalg.norm(rows[:5], axis=1) / np.linalg.norm(rows[5])
    assert [score for _, score in got] == pytest.approx(sorted(cosine, reverse=True), abs=1e-8)


def test_a_lambda_outside_its_range():
    with pytest.raises(ValueError, match=r"lam is 1\.5"):
        mmr(RANKING, QUERY, VECTORS, 1.5)


def test_a_threshold_may_leave_nothing():
    assert above(RANKING, 8.0) == RANKING[:2] and above(RANKING, 10.0) == []
