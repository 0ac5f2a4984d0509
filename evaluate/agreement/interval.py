"""Intervals of agreement: whole queries are resampled, and the ends stay where an agreement can lie.

Percentiles of the bootstrap are too narrow where judge and people nearly always agree: with 30 labels at kappa .96 they
cover 47% (as benchmarks/coverage/agreement.py simulates). So the bootstrap gives a standard error (Efron and
Tibshirani, An Introduction to the Bootstrap, 1993, chapter 6; times sqrt(c / (c - 1)) for c clusters), and the interval
is Student's t with c - 1 degrees of freedom on Fisher's scale, artanh, where a correlation-like figure is nearly normal
(Fisher, Metron 1, 1921). Each end is moved out to the expanded percentile's (Hesterberg 2015) where that lies farther.
Shares (accuracy, precision, ...) have the clustered interval of `evaluate.statistics.clustered`, which needs no draws.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ragassay.arrays import Floats

from ..statistics.clustered import NO_SPREAD, alike_interval
from ..statistics.resamples import expanded_tail

Ends = tuple[float | None, float | None]


@lru_cache(maxsize=4)
def draws(n_clusters: int, replicates: int, seed: int) -> Floats:
    """(replicates, clusters): how often each cluster was drawn, of as many draws with replacement as there are."""
    share = np.full(n_clusters, 1 / max(n_clusters, 1))
    weights: Floats = np.random.default_rng(seed).multinomial(n_clusters, share, size=replicates).astype(np.float64)
    weights.setflags(write=False)
    return weights


def bootstrap_interval(
    value: float, replicates: Floats, n_clusters: int, *, bounded: bool, confidence: float = 0.95
) -> Ends:
    """The ends from the value in each replicate; None below two clusters and where no replicate differs.

    bounded: the figure lies between -1 and 1 and Fisher's scale is used; else Student's t as it is. Replicates in which
    the figure is undefined (NaN) take no part.
    """
    known = replicates[np.isfinite(replicates)]
    if n_clusters < 2 or len(known) < 2 or known.std() < NO_SPREAD:
        return None, None
    from scipy.special import stdtrit

    reach = float(stdtrit(n_clusters - 1, (1 + confidence) / 2)) * known.std() * np.sqrt(n_clusters / (n_clusters - 1))
    if bounded:
        inside = float(np.clip(value, -1 + 1e-6, 1 - 1e-6))
        around = np.tanh(np.arctanh(inside) + np.array([-1, 1]) * reach / (1 - inside**2))
    else:
        around = value + np.array([-1, 1]) * reach
    tail = expanded_tail(n_clusters, confidence)
    low, high = np.quantile(known, [tail, 1 - tail])
    return float(min(low, around[0])), float(max(high, around[1]))


def rank_interval(value: float, replicates: Floats, n_clusters: int) -> Ends:
    """`bootstrap_interval` of how far two orders agree, -1 to 1; of one order and itself, or its reverse, another.

    Fisher's scale has no place for 1, and an error taken to it reaches all of -1 to 1. There the interval goes from the
    value to the expanded percentile, which stays where such a figure can lie (Efron and Tibshirani 1993, chapter 13),
    and at least to the nearest value that a resample has: a resample adds noise of its own, and its orders agree less
    than these do.
    """
    ends = bootstrap_interval(value, replicates, n_clusters, bounded=True)
    if ends == (None, None) or abs(value) < 1 - NO_SPREAD:
        return ends
    inwards = np.abs(replicates[np.isfinite(replicates)] - value)
    far = float(np.quantile(inwards, 1 - expanded_tail(n_clusters, 0.95), method="closest_observation"))
    end = float(np.sign(value)) * (1 - max(far, float(inwards[inwards > NO_SPREAD].min())))
    return min(end, value), max(end, value)


def perfect_interval(n_by_cluster: Floats, chance: float, confidence: float = 0.95) -> Ends:
    """Where all labels agree, and resampling sees no spread: rows that disagree have at most a share of `reach`.

    `reach` is the exact limit for so many like observations (`alike_interval`), and a row that disagrees is taken to do
    so as chance would: agreement is at least 1 - reach / (1 - chance). chance: the share of rows on which two raters
    with these margins agree by chance. None below two clusters.
    """
    if (n_by_cluster > 0).sum() < 2 or chance >= 1:
        return None, None
    low, _ = alike_interval(np.array(1.0), n_by_cluster[n_by_cluster > 0], (0.0, 1.0), confidence)
    return max(-1.0, 1 - (1 - float(low)) / (1 - chance)), 1.0
