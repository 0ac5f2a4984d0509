"""What every ranker shares: the seam, the text of a passage that is indexed, and the order of its results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ragassay.records import Passage

Ranking = list[tuple[str, float]]
"""(passage id, score), best first; equal scores by id."""


class Ranker(Protocol):
    """Ranks the passages it was built over."""

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The `k` best passages for each query, or fewer where fewer were found."""
        ...


def indexed_text(passage: Passage) -> str:
    """The text of a passage that is searched: its title, if it has one, and its text."""
    return f"{passage.title} {passage.text}".strip()


class IndexedTexts(Collection[str]):
    """The text of each of `n` passages, made anew each time they are gone through, so that none has to be held."""

    def __init__(self, passages: Iterable[Passage], n: int) -> None:
        self._passages, self._n = passages, n

    def __iter__(self) -> Iterator[str]:
        return (indexed_text(passage) for passage in self._passages)

    def __len__(self) -> int:
        return self._n

    def __contains__(self, text: object) -> bool:
        return any(text == other for other in self)


_GROUP = 512


def at_least_kth(scores: npt.NDArray[Any], k: int, margin: float) -> npt.NDArray[np.intp]:
    """The positions, ascending, of every score that is at least the `k`-th best less `margin`; all where k is enough.

    The k-th best of the largest scores of groups is at most the k-th best of all, so that only what reaches it has to
    be sorted: over a million scores this takes a tenth of the time of a partition of them.
    """
    if k >= len(scores):
        return np.arange(len(scores))
    whole = len(scores) - len(scores) % _GROUP
    largest = scores[:whole].reshape(-1, _GROUP).max(axis=1)
    if k > len(largest):
        return np.flatnonzero(scores >= np.partition(scores, -k)[-k] - margin)
    reached = np.flatnonzero(scores >= np.partition(largest, -k)[-k] - margin)
    kth = np.partition(scores[reached], -k)[-k]
    return np.asarray(reached[scores[reached] >= kth - margin], np.intp)


def best_first(
    ids: Sequence[str], scores: npt.NDArray[Any], candidates: npt.NDArray[np.intp], k: int, digits: int
) -> Ranking:
    """The `k` best of `candidates` (positions in `ids`, with `scores` beside them), rounded to `digits`, ties by id."""
    rounded = np.round(scores, digits)
    if len(candidates) > k:
        kept = rounded >= np.partition(rounded, -k)[-k]
        candidates, rounded = candidates[kept], rounded[kept]
    pairs = [(ids[i], score) for i, score in zip(candidates.tolist(), rounded.tolist(), strict=True)]
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:k]
