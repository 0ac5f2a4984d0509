"""Fusion by normalised scores and by weighted ranks, against hand-made cases, NumPy, and what must hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import InputError
from ragassay.retrieval.rankers.combined import Hybrid, fuse_scores, rrf
from ragassay.retrieval.rankers.ranker import Failed, QueriesFailed, Ranking

LEXICAL = [("a", 12.0), ("b", 9.0), ("c", 6.0)]
DENSE = [("d", 0.9), ("b", 0.8), ("a", 0.4)]


class Given:
    """A ranker that finds what it is told, and keeps how deep it was asked."""

    def __init__(self, *rankings: Ranking | Failed) -> None:
        self.rankings, self.asked = rankings, []

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        self.asked.append(k)
        found = [row if isinstance(row, Failed) else row[:k] for row in self.rankings[: len(queries)]]
        if any(isinstance(row, Failed) for row in found):
            raise QueriesFailed(found)
        return found


def rankings(values: st.SearchStrategy[float] | None = None) -> st.SearchStrategy[Ranking]:
    scores = st.integers(-40, 40).map(lambda n: n / 8) if values is None else values
    rows = st.dictionaries(st.sampled_from("abcdefgh"), scores, max_size=8)
    return rows.map(lambda row: sorted(row.items(), key=lambda pair: (-pair[1], pair[0])))


def test_min_max_is_the_convex_combination_of_the_paper() -> None:
    fused = fuse_scores([LEXICAL, DENSE], [0.3, 0.7], "min-max")
    expected = {"a": 0.3 * 1 + 0.7 * 0, "b": 0.3 * 0.5 + 0.7 * 0.8, "c": 0.0, "d": 0.3 * 0 + 0.7 * 1}
    assert dict(fused) == pytest.approx(expected)
    assert [identifier for identifier, _ in fused] == ["b", "d", "a", "c"]


def test_z_scores_are_numpys_and_what_is_missing_gets_the_last_ones() -> None:
    fused = dict(fuse_scores([LEXICAL, DENSE], [0.5, 2.0], "z-score"))
    z = [(np.array(s) - np.mean(s)) / np.std(s) for s in ([12.0, 9.0, 6.0], [0.9, 0.8, 0.4])]
    assert fused["b"] == pytest.approx(0.5 * z[0][1] + 2 * z[1][1])
    assert fused["d"] == pytest.approx(0.5 * z[0][2] + 2 * z[1][0])
    assert fused["c"] == pytest.approx(0.5 * z[0][2] + 2 * z[1][2])


def test_a_ranking_that_cannot_be_normalised() -> None:
    assert fuse_scores([[("b", 3.0)], [("a", 0.2), ("b", 0.2)]], [1, 1], "min-max") == [("b", 2.0), ("a", 1.0)]
    assert fuse_scores([[("b", 3.0)], []], [1, 1], "z-score") == [("b", 0.0)]
    assert fuse_scores([[], []], [1, 1], "min-max") == []


@given(st.lists(st.tuples(rankings(), st.integers(1, 5)), max_size=4), st.sampled_from(["min-max", "z-score"]))
def test_neither_the_order_of_rankings_nor_the_scale_of_scores_matters(rows, how) -> None:
    found, weights = [row for row, _ in rows], [weight for _, weight in rows]
    fused = fuse_scores(found, weights, how)
    assert fused == fuse_scores(found[::-1], weights[::-1], how)
    scaled = fuse_scores([[(i, 4 * s + 8) for i, s in row] for row in found], weights, how)
    assert dict(scaled) == pytest.approx(dict(fused), abs=1e-9)


@given(rankings(), rankings(), st.sampled_from(["min-max", "z-score"]))
def test_what_stands_above_in_every_ranking_stands_above_in_the_fusion(one, other, how) -> None:
    fused = dict(fuse_scores([one, other], [1.0, 2.0], how))
    for upper, lower in ((a, b) for a in dict(one) for b in dict(one) if a in dict(other) and b in dict(other)):
        if all(dict(row)[upper] >= dict(row)[lower] for row in (one, other)):
            assert fused[upper] >= fused[lower]


@given(st.lists(rankings(), max_size=3), st.integers(0, 60))
def test_equal_weights_leave_the_order_of_rrf(rows, k) -> None:
    found = [[identifier for identifier, _ in row] for row in rows]
    assert rrf(found, k, [1.0] * len(found)) == rrf(found, k)


def test_weighted_rrf_multiplies_each_rankings_terms() -> None:
    assert dict(rrf([["a", "b"], ["b"]], 60, [0.3, 0.7])) == pytest.approx({"a": 0.3 / 61, "b": 0.3 / 62 + 0.7 / 61})
    with pytest.raises(ValueError):
        rrf([["a"], ["b"]], 60, [1.0])


def test_a_hybrid_fuses_any_number_of_rankings_as_deep_as_it_is_told() -> None:
    rankers = [Given(LEXICAL), Given(DENSE), Given([("e", 1.0), ("b", 0.5)])]
    hybrid = Hybrid(rankers, fusion="min-max", weights=[0.3, 0.3, 0.4], depth=20)
    assert hybrid.search(["q"], 2) == [[("e", 0.4), ("b", 0.39)]]
    hybrid.search(["q"], 30)
    assert [ranker.asked for ranker in rankers] == [[20, 30]] * 3
    assert Hybrid(rankers[:2], depth=2).search(["q"], 1)[0][0][0] == "b"


@pytest.mark.parametrize("fusion", ["rrf", "min-max", "z-score"])
def test_a_ranker_of_weight_zero_takes_no_part(fusion) -> None:
    silent = Given([("z", 1.0)])
    hybrid = Hybrid([silent, Given(DENSE)], fusion=fusion, weights=[0, 1])
    assert [identifier for identifier, _ in hybrid.search(["q"], 5)[0]] == ["d", "b", "a"]
    assert silent.asked == []


def test_a_query_that_fails_in_one_ranker_fails_alone() -> None:
    hybrid = Hybrid([Given(LEXICAL, Failed("the server said no")), Given(DENSE, DENSE)], fusion="min-max")
    with pytest.raises(QueriesFailed) as raised:
        hybrid.search(["q", "r"], 1)
    assert raised.value.found == [[("b", 1.3)], Failed("the server said no")]


@pytest.mark.parametrize("weights", [[1.0], [0.5, -0.5], [0, 0], [float("nan"), 1], [float("inf"), 1]])
def test_weights_that_are_none_are_refused(weights) -> None:
    with pytest.raises(InputError, match="weights"):
        Hybrid([Given(), Given()], weights=weights)
