"""The hybrid ranker: several rankings fused, by reciprocal rank or by normalised scores."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from ragassay.errors import InputError

from .failures import Failed, all_found, search_each
from .fusion import Fusion, fuse_scores
from .ranker import Ranker, Ranking
from .rrf import rrf

DEPTH = 50
"""How many passages of each ranking are fused at least, so that one that both rank low can still come out first."""


class Hybrid:
    """The top max(k, `depth`) of each of `rankers` fused, cut to k.

    fusion: "rrf", or the normalisation of scores (`fuse_scores`). weights: one a ranker, 0 or more and not all 0; None
    are equal ones. A ranker of weight 0 takes no part. Raises InputError for other weights.
    """

    def __init__(
        self,
        rankers: Sequence[Ranker],
        rrf_k: int = 60,
        *,
        fusion: Fusion = "rrf",
        weights: Sequence[float] | None = None,
        depth: int = DEPTH,
    ) -> None:
        self._rrf_k, self._fusion, self._depth = rrf_k, fusion, depth
        given = [1.0] * len(rankers) if weights is None else weights
        _check(given, len(rankers))
        taking_part = [pair for pair in zip(rankers, given, strict=True) if pair[1] > 0]
        self._rankers, self._weights = [ranker for ranker, _ in taking_part], [weight for _, weight in taking_part]

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The at most `k` best passages for each query, with fused scores.

        Raises QueriesFailed where one of the rankers fails for a query.
        """
        found = [search_each(ranker, queries, max(k, self._depth)) for ranker in self._rankers]
        return all_found([self._fused(row, k) for row in zip(*found, strict=True)])

    def _fused(self, row: Sequence[Ranking | Failed], k: int) -> Ranking | Failed:
        if failed := next((part for part in row if isinstance(part, Failed)), None):
            return failed
        rankings = [part for part in row if not isinstance(part, Failed)]
        if self._fusion == "rrf":
            return rrf([_ids(ranking) for ranking in rankings], self._rrf_k, self._weights)[:k]
        return fuse_scores(rankings, self._weights, self._fusion)[:k]


def _ids(ranking: Ranking) -> list[str]:
    return [identifier for identifier, _ in ranking]


def _check(weights: Sequence[float], n: int) -> None:
    if len(weights) != n:
        raise InputError(f"there are {len(weights)} weights for {n} retrievers", remedy="give one for each")
    if not all(isfinite(weight) and weight >= 0 for weight in weights) or not sum(weights) > 0:
        raise InputError(f"the weights are {list(weights)}", remedy="give 0 or more for each, and one above 0")
