"""What every reranker shares: the seam, and the ranking that its scores make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ragassay.calls.served import Failed as Failed
from ragassay.records import Passage

from ..rankers.ranker import Ranking

Asked = Sequence[tuple[str, Sequence[Passage]]]
"""(query, the passages that were found for it, best first)."""

Scores = list[float | None]
"""One a passage, higher is better; None where the reranker leaves the passage out."""


class Reranker(Protocol):
    """Scores passages for queries anew."""

    def rerank(self, asked: Asked) -> list[Scores | Failed]:
        """A score for each passage of each query, or why that query failed.

        Raises InputError where it can never work, BudgetSpent and RepliesMissing as `Caller` does.
        """
        ...


def reranked(passages: Sequence[Passage], scores: Scores) -> Ranking:
    """(passage id, score) of those that were not left out, best first; equal scores by id."""
    scored = zip(passages, scores, strict=True)
    kept = [(passage.id, score) for passage, score in scored if score is not None]
    return sorted(kept, key=lambda one: (-one[1], one[0]))
