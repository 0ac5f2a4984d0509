"""Reciprocal rank fusion.

Cormack, Clarke and Büttcher, Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank Learning Methods
(SIGIR 2009): score(d) = sum over the rankings that hold d of 1 / (k + rank of d), ranks from 1; the paper fixed k = 60.
With weights, each ranking's terms are multiplied by its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_DIGITS = 15  # sums of the same terms are equal before rounding; this joins those of other terms with the same value


def rrf(
    rankings: Sequence[Sequence[str]], k: int = 60, weights: Sequence[float] | None = None
) -> list[tuple[str, float]]:
    """Ids with their fused scores, best first, equal scores by id.

    Each ranking is ids, best first; one that comes twice in a ranking counts at its first place, and one that a
    ranking lacks gets nothing from it. The order of the rankings does not matter. `weights` stand beside the rankings,
    each 0 or more; without, each is 1. Raises ValueError where k < 0 or there are not as many weights as rankings.
    """
    if k < 0:
        raise ValueError(f"k is {k}, which is below 0")
    terms: dict[str, list[float]] = {}
    for weight, ranking in zip([1.0] * len(rankings) if weights is None else weights, rankings, strict=True):
        for rank, identifier in _first_places(ranking):
            terms.setdefault(identifier, []).append(weight / (k + rank))
    fused = [(identifier, math.fsum(shares)) for identifier, shares in terms.items()]
    return sorted(fused, key=lambda pair: (-round(pair[1], _DIGITS), pair[0]))


def _first_places(ranking: Sequence[str]) -> list[tuple[int, str]]:
    first: dict[str, int] = {}
    for rank, identifier in enumerate(ranking, 1):
        first.setdefault(identifier, rank)
    return [(rank, identifier) for identifier, rank in first.items()]
