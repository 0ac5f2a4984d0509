"""The hybrid ranker: BM25's and KNN's rankings fused by reciprocal rank."""

from __future__ import annotations

from collections.abc import Sequence

from .ranker import Ranker, Ranking
from .rrf import rrf

DEPTH = 50
"""How many passages of each ranking are fused at least, so that one that both rank low can still come out first."""


class Hybrid:
    """RRF over the top max(k, 50) of each of `rankers`, cut to k."""

    def __init__(self, rankers: Sequence[Ranker], rrf_k: int = 60) -> None:
        self._rankers, self._rrf_k = tuple(rankers), rrf_k

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The at most `k` best passages for each query, scored by `rrf`."""
        found = [ranker.search(queries, max(k, DEPTH)) for ranker in self._rankers]
        return [rrf([_ids(ranking) for ranking in row], self._rrf_k)[:k] for row in zip(*found, strict=True)]


def _ids(ranking: Ranking) -> list[str]:
    return [identifier for identifier, _ in ranking]
