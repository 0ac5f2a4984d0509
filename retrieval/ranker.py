"""What every ranker shares: the seam, the text of a passage that is indexed, and the order of its results."""

from __future__ import annotations

from collections.abc import Sequence
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
