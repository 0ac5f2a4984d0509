"""Which of a ranking's passages are kept: diverse ones, or those above a score."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ragassay.arrays import Floats

from ..rankers.ranker import Ranking


def mmr(ranking: Ranking, query: Floats, vectors: Mapping[str, Floats], lam: float, k: int | None = None) -> Ranking:
    """The `k` passages (all without one) by maximal marginal relevance (Carbonell and Goldstein 1998, SIGIR).

    Each time that passage is taken which has the largest lam * sim(passage, query) - (1 - lam) * max sim(passage, taken
    ones), sim being the cosine: of `query` (dimensions,) and `vectors`, by passage id. lam = 1 ranks by likeness to the
    query alone, lam = 0 by difference alone. The score of a passage is what it was taken for, -1 to 1, but never above
    that of one taken before; equal ones are taken in the order of `ranking`. Raises ValueError for lam outside 0 to 1,
    KeyError for a passage without a vector.
    """
    if not 0 <= lam <= 1:
        raise ValueError(f"lam is {lam}, which is not from 0 to 1")
    wanted = len(ranking) if k is None else min(k, len(ranking))
    if not wanted:
        return []
    rows = _units(np.array([vectors[passage] for passage, _ in ranking], np.float64))
    relevance, likeness = rows @ _units(np.asarray(query, np.float64)[None])[0], rows @ rows.T
    taken, nearest = list[tuple[int, float]](), np.zeros(len(ranking))
    for _ in range(wanted):
        worth = lam * relevance - (1 - lam) * nearest
        worth[[at for at, _ in taken]] = -np.inf
        best = int(np.argmax(np.round(worth, 9)))
        score = min(float(worth[best]), taken[-1][1]) if taken else float(worth[best])
        nearest = likeness[best] if not taken else np.maximum(nearest, likeness[best])
        taken.append((best, score))
    return [(ranking[at][0], score) for at, score in taken]


def _units(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0), np.float64)


def above(ranking: Ranking, threshold: float) -> Ranking:
    """The passages whose score is at least `threshold`, which may be none."""
    return [(passage, score) for passage, score in ranking if score >= threshold]
