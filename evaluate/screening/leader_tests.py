"""Which variants the data do not tell from the one that leads.

To call one the best it must beat each other, and no correction is made over these tests (rank verification: Hung and
Fithian, Annals of Statistics 47(2), 2019; `evaluate.ratings.standing` has the same rule for agents, and its level).
Among a hundred of equal worth the second is nearly always too near; `benchmarks/coverage/screening.py` counts.
"""

from __future__ import annotations

import numpy as np

from ragassay.arrays import Floats, Truths

from ..inputs.clusters import Clusters
from ..ratings.standing import FEWEST_QUERIES, LEVEL_LEADER, against_all
from ..statistics.sign_flip import flip_ps


def told_worse(values: Floats, leader: int, clusters: Clusters, seed: int) -> Truths:
    """(variants,): whether the data tell the leader from each, ahead of it; not the leader itself.

    values: (variants, queries), NaN where there is none. The clustered t-test says so, two-sided at `LEVEL_LEADER`,
    each pair on the queries that both have. Where it does of every other, so that the leader would be the best, the
    sign flips of whole clusters must say so too (they stand alone where t is not defined). None is told from others
    with fewer than `FEWEST_QUERIES` clusters.
    """
    difference, p = against_all(values[leader], values, clusters)
    told: Truths = np.asarray((np.nan_to_num(difference) > 0) & ~(p > LEVEL_LEADER))
    if (clusters.sizes > 0).sum() < FEWEST_QUERIES:
        return np.zeros(len(values), dtype=bool)
    others: Truths = np.asarray(~np.isnan(values).all(axis=1))
    others[leader] = False
    asked = told if told[others].all() else told & np.isnan(p)
    if asked.any():
        gaps = values[leader] - values[asked]
        flips = flip_ps(clusters.sums(np.where(np.isnan(gaps), 0.0, gaps)), seed)
        told[asked] = [each is not None and each <= LEVEL_LEADER for each in flips]
    return told


def told_worse_with_failures(values: Floats, leader: int, clusters: Clusters, seed: int) -> Truths:
    """`told_worse` that holds also where the leader's own failures are its worst values, 0: they do not pay."""
    told = told_worse(values, leader, clusters, seed)
    failed = np.isnan(values[leader]) & ~np.isnan(values).all(axis=0)
    if not failed.any():
        return told
    low = values.copy()
    low[leader, failed] = 0.0
    return told & told_worse(low, leader, clusters, seed)
