"""Rankings fused by their scores: each normalised over its own ranking, then a weighted sum.

Bruch, Gai and Ingber, An Analysis of Fusion Functions for Hybrid Retrieval (TOIS 2023, arXiv:2210.11934), section 4:
the convex combination, f(d) = sum over rankings of w · φ(score of d), with φ min-max, (s - min) / (max - min), or
z-score, (s - mean) / standard deviation; minimum, mean and deviation are those of the ranking as it was retrieved, not
of all passages.

A passage that one of the rankings lacks gets from it what its last one gets (0 by min-max). It may score less, never
more; the paper computes its score, which the rankers of others cannot be asked for. Zero by z-score would be the mean:
being absent would be better than standing in the lower half.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from .ranker import Ranking

Fusion = Literal["rrf", "min-max", "z-score"]

_DIGITS = 12


def fuse_scores(
    rankings: Sequence[Ranking], weights: Sequence[float], normalisation: Literal["min-max", "z-score"]
) -> Ranking:
    """Every passage of `rankings` with its fused score, best first, equal scores (to 12 decimals) by id.

    `weights` stand beside the rankings, each 0 or more. A ranking whose scores are all equal gives each of its
    passages 1 by min-max (each is its best), 0 by z-score; an empty one gives nothing to any passage. Raises
    ValueError where there are not as many weights as rankings.
    """
    normalise = _min_max if normalisation == "min-max" else _z_scores
    parts = [(weight, normalise(dict(ranking))) for weight, ranking in zip(weights, rankings, strict=True) if ranking]
    lowest = [0.0 if normalisation == "min-max" else min(scores.values()) for _, scores in parts]
    identifiers = {identifier for _, scores in parts for identifier in scores}
    fused = {
        identifier: math.fsum(
            weight * scores.get(identifier, low) for (weight, scores), low in zip(parts, lowest, strict=True)
        )
        for identifier in identifiers
    }
    rounded = [(identifier, round(score, _DIGITS)) for identifier, score in fused.items()]
    return sorted(rounded, key=lambda pair: (-pair[1], pair[0]))


def _min_max(scores: Mapping[str, float]) -> dict[str, float]:
    low, high = min(scores.values()), max(scores.values())
    if high == low:
        return dict.fromkeys(scores, 1.0)
    return {identifier: (score - low) / (high - low) for identifier, score in scores.items()}


def _z_scores(scores: Mapping[str, float]) -> dict[str, float]:
    mean = math.fsum(scores.values()) / len(scores)
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores.values()) / len(scores))
    if max(scores.values()) == min(scores.values()) or deviation == 0:
        return dict.fromkeys(scores, 0.0)
    return {identifier: (score - mean) / deviation for identifier, score in scores.items()}
