"""Exact nearest neighbours by cosine."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from ragassay.arrays import Singles

from .embedding import Embedder
from .embedding_cache import Text, Vectors, on_disk
from .ranker import Anew, Material, Ranker, Ranking, best_first

DIGITS = 5

_BATCH = 64  # queries that are compared with the passages at a time
_ROWS, _FIRST_ROWS = 32_768, 4096  # passages that they are compared with at a time
_MARGIN = 1e-3  # above the error of single precision and of rounding, in cosine


class Knn(Ranker):
    """Cosine over embeddings of `texts`, whose ids stand beside them; they are embedded at the first search.

    Candidates come from a product in single precision, with room for its error; their scores from one in double,
    where the sum of products of half-precision values is exact, so that no machine's order of summation shows.
    Scores are rounded to 5 decimals; equal ones are in the order of ids.

    Both kinds of vectors are memory-mapped, and compared some thousands at a time: what a search holds in memory does
    not grow with the number of passages.
    """

    name = "knn"
    embeds = True

    @classmethod
    def over(cls, material: Material) -> Ranker:
        """By the embedder's model."""
        return cls(material.ids, material.texts, material.embedder())

    def __init__(self, ids: Sequence[str], texts: Collection[str], embedder: Embedder) -> None:
        self._ids, self._texts, self._embedder = ids, texts, embedder
        self._places: npt.NDArray[np.intp] | None = None
        self._single: Singles | None = None
        self._lock = threading.Lock()  # LangChain may search from several threads

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The min(k, number of passages) nearest passages for each query. Raises what `Embedder.places` does."""
        if not queries or not len(self._ids):
            return [[] for _ in queries]
        with self._lock:
            vectors = self._embed(queries)
        starts = range(0, len(queries), _BATCH)
        return [ranking for start in starts for ranking in self._batch(vectors[start : start + _BATCH], k)]

    def _embed(self, queries: Sequence[str]) -> Vectors:
        """The queries' vectors; at the first call the passages', too, so that all that is missing is said at once."""
        asked = [Text("query", query) for query in queries]
        if self._places is not None:
            return self._embedder.vectors(asked)
        n = len(self._ids)
        both = Anew(lambda: chain((Text("passage", text) for text in self._texts), asked), n + len(asked))
        places = self._embedder.places(both)
        self._places = places[:n]
        self._single = _normalised(self._embedder, self._places)
        return self._embedder.take(places[n:])

    def _batch(self, queries: Vectors, k: int) -> list[Ranking]:
        assert self._single is not None
        everything = np.arange(len(self._ids))
        if k >= len(self._ids):
            found = [everything] * len(queries)
        else:
            found = candidates(queries.astype(np.float32), self._single, k)
        return [self._ranking(query, rows, k) for query, rows in zip(queries, found, strict=True)]

    def _ranking(self, query: Vectors, rows: npt.NDArray[np.intp], k: int) -> Ranking:
        assert self._places is not None
        passages, asked = self._embedder.take(self._places[rows]).astype(np.float64), query.astype(np.float64)
        lengths = np.sqrt((passages * passages).sum(axis=1) * (asked * asked).sum())
        return best_first(self._ids, (passages @ asked) / lengths, rows, k, DIGITS)


def _normalised(embedder: Embedder, places: npt.NDArray[np.intp]) -> Singles:
    """The vectors at `places` in single precision, of length 1, memory-mapped: (len(places), dimensions)."""
    single = on_disk((len(places), embedder.take(places[:1]).shape[1]))
    for start in range(0, len(places), _ROWS):
        rows = embedder.take(places[start : start + _ROWS]).astype(np.float32)
        single[start : start + len(rows)] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return single


def candidates(queries: Singles, passages: Singles, k: int) -> list[npt.NDArray[np.intp]]:
    """For each query the rows of `passages`, ascending, whose product with it is at least the `k`-th largest less
    the error of single precision; k is below len(passages).

    The k-th largest so far is a floor under the k-th largest of all: of the rows that follow only those above it are
    looked at.
    """
    first = max(_FIRST_ROWS, k)
    rough = queries @ passages[:first].T
    floors = np.partition(rough, -min(k, rough.shape[1]), axis=1)[:, -min(k, rough.shape[1])]
    kept = [_Kept(k, floor) for floor in floors]
    for start in (0, *range(first, len(passages), _ROWS)):
        if start:
            rough = queries @ passages[start : start + _ROWS].T
        above = np.flatnonzero(rough >= (np.array([row.floor for row in kept]) - np.float32(_MARGIN))[:, None])
        numbers, columns = np.divmod(above, rough.shape[1])
        ends = np.searchsorted(numbers, np.arange(len(kept) + 1))
        for number in np.flatnonzero(np.diff(ends)).tolist():
            hits = columns[ends[number] : ends[number + 1]]
            kept[number].add(hits + start, rough[number, hits])
    return [row.rows for row in kept]


class _Kept:
    """The rows that one query may need, with their products; the floor is the k-th largest product so far."""

    def __init__(self, k: int, floor: np.float32) -> None:
        self.floor, self._k = floor, k
        self.rows: npt.NDArray[np.intp] = np.zeros(0, np.intp)
        self._products: Singles = np.zeros(0, np.float32)

    def add(self, rows: npt.NDArray[np.intp], products: Singles) -> None:
        self.rows, self._products = np.append(self.rows, rows), np.append(self._products, products)
        if len(self.rows) > self._k:
            self.floor = max(self.floor, np.partition(self._products, -self._k)[-self._k])
            high = self._products >= self.floor - np.float32(_MARGIN)
            self.rows, self._products = self.rows[high], self._products[high]
