"""Hybrids by ranks and by scores, sections for passages, and a search that is remembered: formulas, hand-made cases."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import InputError
from ragassay.records import Passage
from ragassay.retrieval.rankers.analysis import make_analyzer
from ragassay.retrieval.rankers.bm25 import Bm25
from ragassay.retrieval.rankers.combined import Hybrid, Searched, SmallToBig, fuse_scores, rrf, sections_of
from ragassay.retrieval.rankers.ranker import Failed, QueriesFailed, Ranker, Ranking

rankings_of_ids = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), max_size=5)


def test_k_is_a_setting() -> None:
    assert rrf([["a", "b"], ["b"]], k=1) == [("b", 1 / 3 + 1 / 2), ("a", 1 / 2)]
    with pytest.raises(ValueError, match="below 0"):
        rrf([["a"]], k=-1)


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


def test_the_hybrid_fuses_deeper_than_it_returns() -> None:
    bm25, knn = (Given([(identifier, 1.0) for identifier in ids]) for ids in ("abcde", "fghic"))
    assert Hybrid([bm25, knn], rrf_k=60).search(["q"], 1) == [[("c", 1 / 63 + 1 / 65)]]
    Hybrid([bm25, knn]).search(["q"], 100)
    assert bm25.asked == knn.asked == [50, 100]
    assert Hybrid([Given([]), bm25]).search(["q"], 2)[0] == [("a", 1 / 61), ("b", 1 / 62)]


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


class Ranked:
    """The passages with their scores, the same for every query; "?" fails."""

    def __init__(self, scores: dict[str, float]) -> None:
        self.whole = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        found = [Failed("no") if query == "?" else self.whole[:k] for query in queries]
        if "?" in queries:
            raise QueriesFailed(found)
        return [row for row in found if not isinstance(row, Failed)]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 12)), max_size=400), st.integers(1, 12))
def test_it_is_the_best_passage_of_every_section(rows: list[tuple[int, int]], k: int) -> None:
    scores = {f"p{i:03}": float(score) for i, (score, _) in enumerate(rows)}
    section_of = {f"p{i:03}": f"s{section:02}" for i, (_, section) in enumerate(rows)}
    best: dict[str, float] = {}
    for identifier, section in section_of.items():
        best[section] = max(best.get(section, 0.0), scores[identifier])
    expected = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:k]
    assert SmallToBig(Ranked(scores), section_of).search(["q", "r"], k) == [expected] * 2


def test_one_that_fails_does_not_fail_the_others() -> None:
    ranker = SmallToBig(
        Ranked({f"p{i:03}": 1000.0 - i for i in range(300)}), {f"p{i:03}": f"s{i // 100}" for i in range(300)}
    )
    with pytest.raises(QueriesFailed) as raised:
        ranker.search(["q", "?"], 2)
    assert raised.value.found == [[("s0", 1000.0), ("s1", 900.0)], Failed("no")]


def test_passages_say_their_sections() -> None:
    passage = Passage.model_validate({"_id": "small.p1", "text": "a", "metadata": {"section": "sections.s1"}})
    assert sections_of([passage]) == {"small.p1": "sections.s1"}
    with pytest.raises(InputError, match="'p2' has no metadata"):
        sections_of([passage, Passage.model_validate({"_id": "p2", "text": "a", "metadata": {}})])


QUERIES = [
    "heap in external RAM",
    "malloc freelist",
    "nothing of this kind xyzzy",
    "pgm_read_byte",
    "heap in external RAM",
]


class Counted:
    """`ranker`, with what it was asked; queries of the set `failing` fail."""

    def __init__(self, ranker: Ranker, failing: frozenset[str] = frozenset()) -> None:
        self._ranker, self._failing = ranker, failing
        self.asked: list[tuple[str, int]] = []

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        self.asked += [(query, k) for query in queries]
        found = self._ranker.search(queries, k)
        if self._failing & set(queries):
            rows = zip(queries, found, strict=True)
            raise QueriesFailed([Failed("no") if query in self._failing else row for query, row in rows])
        return found


@pytest.fixture
def bm25(passages) -> Bm25:
    return Bm25([p.id for p in passages], [p.text for p in passages], make_analyzer("en"))


def test_three_hybrids_of_one_ranker_search_it_once(bm25) -> None:
    counted, other = Counted(bm25), Searched(bm25)
    searched = Searched(counted)
    found = [Hybrid([searched, other], weights=[w, 1 - w]).search(QUERIES, 5) for w in (0.2, 0.5, 0.8)]
    assert found == [Hybrid([bm25, bm25], weights=[w, 1 - w]).search(QUERIES, 5) for w in (0.2, 0.5, 0.8)]
    assert counted.asked == [(query, 50) for query in QUERIES[:4]]


@pytest.mark.parametrize("depths", [(1, 3, 40), (40, 3), (3, 4, 2)])
def test_rankings_are_those_of_the_ranker_at_every_depth(bm25, depths) -> None:
    searched = Searched(bm25, depth=2)
    for k in depths:
        assert searched.search(QUERIES, k) == bm25.search(QUERIES, k)


def test_only_what_is_not_deep_enough_is_asked_again(bm25) -> None:
    counted = Counted(bm25)
    searched = Searched(counted, depth=5)
    searched.search(QUERIES[1:3], 2)  # the second has no passage at all, so there is none further down
    counted.asked.clear()
    searched.search([*QUERIES[1:4]], 6)
    assert counted.asked == [(QUERIES[1], 6), (QUERIES[3], 6)]


def test_a_failure_is_remembered_and_leaves_the_others(bm25) -> None:
    counted = Counted(bm25, frozenset({QUERIES[1]}))
    searched = Searched(counted)
    for _ in range(2):
        with pytest.raises(QueriesFailed) as raised:
            searched.search(QUERIES[:2], 3)
        assert raised.value.found == [bm25.search(QUERIES[:1], 3)[0], Failed("no")]
    assert len(counted.asked) == 2


def test_the_oldest_rankings_are_forgotten(bm25) -> None:
    three, counted = [QUERIES[0], QUERIES[1], QUERIES[3]], Counted(bm25)
    searched = Searched(counted, depth=3, at_most=sum(map(len, bm25.search(three, 3))) - 1)
    for query in (*three, three[2], three[0]):
        assert searched.search([query], 3) == bm25.search([query], 3)
    assert [query for query, _ in counted.asked] == [*three, three[0]]
    assert Searched(bm25, at_most=1).search(QUERIES, 3) == bm25.search(QUERIES, 3)


def test_threads_that_ask_for_the_same_search_it_once(bm25) -> None:
    counted = Counted(bm25)
    searched, found = Searched(counted), []
    threads = [threading.Thread(target=lambda: found.append(searched.search(QUERIES, 5))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [bm25.search(QUERIES, 5)] * 8
    assert len(counted.asked) == 4
