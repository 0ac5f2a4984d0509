"""BM25, KNN and their hybrid over an index, as rankers that take the place of the embedded ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from ragassay.errors import InputError

from ..rankers.analysis import Analyzer
from ..rankers.bm25 import DIGITS as BM25_DIGITS
from ..rankers.embedding import Embedder
from ..rankers.embedding_cache import Text, Vectors
from ..rankers.hybrid import DEPTH
from ..rankers.knn import DIGITS as KNN_DIGITS
from ..rankers.ranker import Ranking
from ..rankers.rrf import rrf
from .client import Server
from .search import (
    MAX_K,
    Body,
    Target,
    bm25_query,
    bm25_search,
    fused_search,
    knn_query,
    knn_search,
    run_searches,
    sorted_search,
    weighted_query,
)

RRF_DIGITS = 8
"""The server sums reciprocal ranks in single precision; beyond these, equal sums differ."""


class ServerBm25:
    """Lucene's BM25. Scores are in single precision, rounded to 6 decimals; equal ones are in the order of ids.

    OpenSearch 2 multiplies every score by k1 + 1, which changes no order; they are left as the server gives them.
    """

    def __init__(self, server: Server, target: Target, analyze: Analyzer) -> None:
        self._server, self._target, self._analyze = server, target, analyze

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The at most `k` (1 to 10,000) best passages for each query; none where no term is left of it."""
        check_depth(k)
        return self._ranked([sorted_search(clause, k) if clause else None for clause in self.clauses(queries, k)])

    def search_weighted(self, queries: Sequence[Mapping[str, float]], k: int) -> list[Ranking]:
        """The same for queries whose terms, as analysed, have weights (0 or more): what a term gives is multiplied."""
        check_depth(k)
        known = [{term: weight for term, weight in weights.items() if weight > 0} for weights in queries]
        return self._ranked([sorted_search(weighted_query(self._target, one), k) if one else None for one in known])

    def clauses(self, queries: Sequence[str], depth: int) -> list[Body | None]:
        """The query on the server for each of `queries`; None where no term is left of it."""
        return [bm25_query(self._target, terms) if terms else None for terms in self._analyze(queries)]

    def _ranked(self, bodies: Sequence[Body | None]) -> list[Ranking]:
        return [rounded(ranking, BM25_DIGITS) for ranking in answered(self._server, self._target, bodies)]


class ServerKnn:
    """HNSW by cosine: approximate, unlike the embedded engine's. Scores are cosines, rounded to 5 decimals."""

    def __init__(self, server: Server, target: Target, embedder: Embedder) -> None:
        self._server, self._target = server, target
        self._embed = _embedding(embedder)

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The min(k, number of passages) nearest passages for each query, as far as HNSW finds them; k to 10,000."""
        check_depth(k)
        bodies = [knn_search(self._target, vector, k) for vector in self._embed(queries)]
        return [_cosines(ranking)[:k] for ranking in run_searches(self._server, self._target, bodies)]

    def clauses(self, queries: Sequence[str], depth: int) -> list[Body | None]:
        """The query on the server for each of `queries`, for its `depth` nearest passages."""
        return [knn_query(self._target, vector, depth) for vector in self._embed(queries)]


class ServerHybrid:
    """RRF over the top max(k, 50) of BM25 and of KNN, fused here (both searched in one `_msearch`) or by the server.

    `by_server`: a hybrid query with the server's RRF. Where BM25 scores several passages alike, it ranks them in an
    order of its own, and we by id.
    """

    def __init__(
        self, server: Server, target: Target, analyze: Analyzer, embedder: Embedder, rrf_k: int, *, by_server: bool
    ) -> None:
        self._server, self._target, self._analyze, self._rrf_k = server, target, analyze, rrf_k
        self._embed, self._fuse = _embedding(embedder), self._by_server if by_server else self._ours

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The at most `k` (1 to 10,000) best passages for each query, scored by `rrf`."""
        check_depth(k)
        return [ranking[:k] for ranking in self._fuse(queries, max(k, DEPTH))]

    def _ours(self, queries: Sequence[str], depth: int) -> list[Ranking]:
        bodies: list[Body | None] = []
        for terms, vector in zip(self._analyze(queries), self._embed(queries), strict=True):
            bodies.append(bm25_search(self._target, terms, depth) if terms else None)
            bodies.append(knn_search(self._target, vector, depth))
        found = answered(self._server, self._target, bodies)
        pairs = zip(found[::2], found[1::2], strict=True)
        return [
            rrf([_ids(rounded(bm25, BM25_DIGITS)), _ids(_cosines(knn)[:depth])], self._rrf_k) for bm25, knn in pairs
        ]

    def _by_server(self, queries: Sequence[str], depth: int) -> list[Ranking]:
        asked = zip(self._analyze(queries), self._embed(queries), strict=True)
        bodies = [fused_search(self._target, terms, vector, depth, self._rrf_k) for terms, vector in asked]
        return [rounded(ranking, RRF_DIGITS) for ranking in run_searches(self._server, self._target, bodies)]


def _embedding(embedder: Embedder) -> Callable[[Sequence[str]], Vectors]:
    lock = threading.Lock()  # LangChain may search from several threads

    def embed(queries: Sequence[str]) -> Vectors:
        with lock:
            return embedder.vectors([Text("query", query) for query in queries])

    return embed


def answered(server: Server, target: Target, bodies: Sequence[Body | None]) -> list[Ranking]:
    """A ranking for each search, empty for one that is None."""
    found = run_searches(server, target, [body for body in bodies if body is not None])
    return [[] if body is None else next(found) for body in bodies]


def _cosines(ranking: Ranking) -> Ranking:
    """OpenSearch scores a cosine c as (1 + c) / 2."""
    return rounded([(identifier, 2 * score - 1) for identifier, score in ranking], KNN_DIGITS)


def rounded(ranking: Ranking, digits: int) -> Ranking:
    rounded = [(identifier, round(score, digits)) for identifier, score in ranking]
    return sorted(rounded, key=lambda pair: (-pair[1], pair[0]))


def _ids(ranking: Ranking) -> list[str]:
    return [identifier for identifier, _ in ranking]


def check_depth(k: int) -> None:
    if k > MAX_K:
        raise InputError(f"k is {k}, and OpenSearch gives at most {MAX_K} passages a query", remedy="lower it")
