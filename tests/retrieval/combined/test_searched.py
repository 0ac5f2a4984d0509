"""A ranker that is searched once: the same rankings, each query asked for once, and bounded memory."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from ragassay.retrieval.rankers.analysis import make_analyzer
from ragassay.retrieval.rankers.bm25 import Bm25
from ragassay.retrieval.rankers.combined import Hybrid, Searched
from ragassay.retrieval.rankers.ranker import Failed, QueriesFailed, Ranker, Ranking

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
