"""What a ranker found, remembered, so that the variants that build on it search each query once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..rankers.failures import Failed, all_found, search_each
from ..rankers.ranker import Ranker, Ranking

DEPTH = 50
AT_MOST = 10_000_000
"""Passages in the rankings that are remembered: 12 bytes each."""


class _Kept(NamedTuple):
    """A ranking of at most `depth` passages, or why there is none; `numbers` stand for ids."""

    depth: int
    numbers: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float64]
    failed: Failed | None


class Searched:
    """`ranker`, asked once for the `depth` best of each query text, and again only where more are wanted.

    For rankers whose k best are the first k of any deeper ranking, as BM25 and KNN; a hybrid's are not, whose depth
    is part of what it fuses. A query that failed is not asked again. Where more than `at_most` passages are in the
    rankings remembered, the oldest ranking is forgotten. Threads wait for one another.
    """

    def __init__(self, ranker: Ranker, *, depth: int = DEPTH, at_most: int = AT_MOST) -> None:
        self._ranker, self._depth, self._at_most = ranker, depth, at_most
        self._kept: dict[str, _Kept] = {}
        self._n_kept = 0
        self._ids: list[str] = []
        self._numbers: dict[str, int] = {}
        self._lock = threading.Lock()

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The `k` best passages for each query, as `ranker` gives them. Raises what it does."""
        with self._lock:
            depth = max(k, self._depth)
            new = [query for query in dict.fromkeys(queries) if not self._known(query, k)]
            found = dict(zip(new, search_each(self._ranker, new, depth), strict=True)) if new else {}
            rows = [found[query] if query in found else self._remembered(query) for query in queries]
            for query, row in found.items():
                self._remember(query, row, depth)
        return all_found([row if isinstance(row, Failed) else row[:k] for row in rows])

    def _known(self, query: str, k: int) -> bool:
        kept = self._kept.get(query)
        return kept is not None and (kept.failed is not None or k <= kept.depth or len(kept.numbers) < kept.depth)

    def _remembered(self, query: str) -> Ranking | Failed:
        kept = self._kept[query]
        if kept.failed is not None:
            return kept.failed
        return [(self._ids[i], s) for i, s in zip(kept.numbers.tolist(), kept.scores.tolist(), strict=True)]

    def _remember(self, query: str, row: Ranking | Failed, depth: int) -> None:
        self._forget(query)
        ranking = [] if isinstance(row, Failed) else row
        numbers = np.array([self._number(identifier) for identifier, _ in ranking], np.int32)
        scores = np.array([score for _, score in ranking], np.float64)
        self._kept[query] = _Kept(depth, numbers, scores, row if isinstance(row, Failed) else None)
        self._n_kept += len(numbers)
        while self._n_kept > self._at_most:
            self._forget(next(iter(self._kept)))

    def _number(self, identifier: str) -> int:
        number = self._numbers.setdefault(identifier, len(self._ids))
        if number == len(self._ids):
            self._ids.append(identifier)
        return number

    def _forget(self, query: str) -> None:
        if (kept := self._kept.pop(query, None)) is not None:
            self._n_kept -= len(kept.numbers)
