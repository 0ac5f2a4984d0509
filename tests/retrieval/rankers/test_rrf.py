"""RRF against its formula and its properties, and the hybrid that uses it."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.retrieval.rankers.combined import Hybrid, rrf

rankings_of_ids = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), max_size=5)


def test_the_sum_of_reciprocal_ranks() -> None:
    fused = rrf([["a", "b", "c"], ["c", "a", "d"]])
    assert fused == [("a", 1 / 61 + 1 / 62), ("c", 1 / 63 + 1 / 61), ("b", 1 / 62), ("d", 1 / 63)]


def test_k_is_a_setting() -> None:
    assert rrf([["a", "b"], ["b"]], k=1) == [("b", 1 / 3 + 1 / 2), ("a", 1 / 2)]
    with pytest.raises(ValueError, match="below 0"):
        rrf([["a"]], k=-1)


def test_ties_are_in_the_order_of_ids() -> None:
    assert [i for i, _ in rrf([["b", "a"], ["a", "b"], ["d"], ["c"]])] == ["a", "b", "c", "d"]


def test_nothing_fused_is_nothing() -> None:
    assert rrf([]) == rrf([[], []]) == []


def test_an_id_counts_once_a_ranking() -> None:
    assert rrf([["a", "b", "a"]]) == [("a", 1 / 61), ("b", 1 / 62)]


@given(rankings_of_ids, st.integers(0, 10_000))
def test_scores_are_the_exact_sums_and_the_order_is_theirs(rankings: list[list[str]], k: int) -> None:
    exact: dict[str, Fraction] = {}
    for ranking in rankings:
        for rank, identifier in enumerate(ranking, 1):
            exact[identifier] = exact.get(identifier, Fraction(0)) + Fraction(1, k + rank)
    fused = rrf(rankings, k)
    assert [i for i, _ in fused] == sorted(exact, key=lambda i: (-exact[i], i))
    assert dict(fused) == pytest.approx({i: float(score) for i, score in exact.items()}, rel=1e-12)


@given(rankings_of_ids.filter(lambda rankings: len(rankings) <= 4))
def test_the_order_of_the_rankings_does_not_matter(rankings: list[list[str]]) -> None:
    assert all(rrf(list(order)) == rrf(rankings) for order in itertools.permutations(rankings))


class Fixed:
    """A ranker with one ranking for every query, which keeps the depth it was asked for."""

    def __init__(self, ids: str) -> None:
        self.ids, self.depth = ids, 0

    def search(self, queries, k):
        self.depth = k
        return [[(identifier, 1.0) for identifier in self.ids[:k]] for _ in queries]


def test_the_hybrid_fuses_deeper_than_it_returns() -> None:
    bm25, knn = Fixed("abcde"), Fixed("fghic")
    assert Hybrid([bm25, knn], rrf_k=60).search(["q"], 1) == [[("c", 1 / 63 + 1 / 65)]]
    assert bm25.depth == knn.depth == 50
    Hybrid([bm25, knn]).search(["q"], 100)
    assert bm25.depth == knn.depth == 100


def test_the_hybrid_stands_on_one_leg_where_the_other_found_nothing() -> None:
    assert [i for i, _ in Hybrid([Fixed(""), Fixed("ba")]).search(["q"], 5)[0]] == ["b", "a"]
