"""Exact nearest neighbours by cosine."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from retrieval.embedding import Embedder
from retrieval.embedding_cache import Text, Vectors
from retrieval.ranker import Ranking, best_first

DIGITS = 5

_BATCH = 64  # queries whose scores over all passages are held at a time
_MARGIN = 1e-3  # above the error of single precision and of rounding, in cosine


class Knn:
    """Cosine over embeddings of `texts`, whose ids stand beside them; they are embedded at the first search.

    Candidates come from a product in single precision, with room for its error; their scores from one in double,
    where the sum of products of half-precision values is exact, so that no machine's order of summation shows.
    Scores are rounded to 5 decimals; equal ones are in the order of ids.
    """

    def __init__(self, ids: Sequence[str], texts: Sequence[str], embedder: Embedder) -> None:
        self._ids, self._texts, self._embedder = list(ids), list(texts), embedder
        self._passages: Vectors | None = None
        self._single: npt.NDArray[np.float32] | None = None
        self._lock = threading.Lock()  # LangChain may search from several threads

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The min(k, number of passages) nearest passages for each query. Raises what `Embedder.vectors` does."""
        if not queries or not self._ids:
            return [[] for _ in queries]
        with self._lock:
            vectors = self._embed(queries)
        starts = range(0, len(queries), _BATCH)
        return [ranking for start in starts for ranking in self._batch(vectors[start : start + _BATCH], k)]

    def _embed(self, queries: Sequence[str]) -> Vectors:
        """The queries' vectors; at the first call the passages', too, so that all that is missing is said at once."""
        asked = [Text("query", query) for query in queries]
        if self._passages is not None:
            return self._embedder.vectors(asked)
        both = self._embedder.vectors([*(Text("passage", text) for text in self._texts), *asked])
        self._passages = both[: len(self._texts)]
        single = self._passages.astype(np.float32)
        self._single = single / np.linalg.norm(single, axis=1, keepdims=True)
        return both[len(self._texts) :]

    def _batch(self, queries: Vectors, k: int) -> list[Ranking]:
        assert self._single is not None and self._passages is not None
        rough = queries.astype(np.float32) @ self._single.T
        return [self._ranking(query, row, k) for query, row in zip(queries, rough, strict=True)]

    def _ranking(self, query: Vectors, rough: npt.NDArray[np.float32], k: int) -> Ranking:
        assert self._passages is not None
        candidates = np.arange(len(rough))
        if k < len(rough):
            candidates = np.flatnonzero(rough >= np.partition(rough, -k)[-k] - _MARGIN)
        scores = _cosine(query.astype(np.float64), self._passages[candidates].astype(np.float64))
        return best_first(self._ids, scores, candidates, k, DIGITS)


def _cosine(query: npt.NDArray[np.float64], passages: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    lengths = np.sqrt((passages * passages).sum(axis=1) * (query * query).sum())
    return np.asarray((passages @ query) / lengths)
