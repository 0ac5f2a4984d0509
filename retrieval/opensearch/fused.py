"""Hybrids that the server fuses: any of its BM25 and KNN over one index, by reciprocal rank or by min-max."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from ..rankers.hybrid import DEPTH
from ..rankers.ranker import Ranking
from .client import Server
from .rankers import RRF_DIGITS, answered, check_depth, rounded
from .search import Body, Target, hybrid_search, min_max_processor, rrf_processor

MIN_MAX_DIGITS = 6
"""The server's scores are in single precision."""


class Clauses(Protocol):
    """A ranker of the server that can say what it asks."""

    def clauses(self, queries: Sequence[str], depth: int) -> list[Body | None]:
        """The query on the server for each of `queries`; None where it would find nothing."""
        ...


class ServerFused:
    """The top max(k, `depth`) of each of 1 to 5 `members` over one index of one shard, fused by the server.

    Scores are those of the embedded engine's hybrid, but that the server gives 0.001 by min-max where a ranking's last
    passage has 0, and ranks passages that BM25 scores alike in an order of its own. weights: one a member, above 0.
    """

    def __init__(
        self,
        server: Server,
        target: Target,
        members: Sequence[Clauses],
        fusion: Literal["rrf", "min-max"],
        *,
        weights: Sequence[float],
        rrf_k: int,
        depth: int = DEPTH,
    ) -> None:
        self._server, self._target, self._members = server, target, list(members)
        self._fusion, self._weights, self._rrf_k, self._depth = fusion, list(weights), rrf_k, depth

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The at most `k` (1 to 10,000) best passages for each query, with fused scores."""
        depth = max(k, self._depth)
        check_depth(depth)
        rows = list(zip(*(member.clauses(queries, depth) for member in self._members), strict=True))
        found = answered(self._server, self._target, [self._body(row, depth) for row in rows])
        return [self._scaled(ranking, row)[:k] for ranking, row in zip(found, rows, strict=True)]

    def _body(self, row: Sequence[Body | None], depth: int) -> Body | None:
        clauses = [clause for clause in row if clause is not None]
        if not clauses:
            return None
        if self._fusion == "rrf":
            return hybrid_search(clauses, depth, rrf_processor(self._rrf_k))
        weights, total = self._of(row), sum(self._of(row))
        return hybrid_search(clauses, depth, min_max_processor([weight / total for weight in weights]))

    def _scaled(self, ranking: Ranking, row: Sequence[Body | None]) -> Ranking:
        """The server's mean by weights as the sum that it is ours to give."""
        if self._fusion == "rrf":
            return rounded(ranking, RRF_DIGITS)
        total = sum(self._of(row))
        return rounded([(identifier, total * score) for identifier, score in ranking], MIN_MAX_DIGITS)

    def _of(self, row: Sequence[Body | None]) -> list[float]:
        """The weights of the members that have anything to ask."""
        return [weight for weight, clause in zip(self._weights, row, strict=True) if clause is not None]
