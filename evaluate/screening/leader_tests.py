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

    values: (variants, queries), NaN where there is none. The clustered t-test and the sign flips of whole clusters
    (which stand alone where t is not defined) must both say so, two-sided at `LEVEL_LEADER`, each pair on the queries
    that both have; and none is told from others with fewer than `FEWEST_QUERIES` clusters.
    """
    difference, p = against_all(values[leader], values, clusters)
    told: Truths = (np.nan_to_num(difference) > 0) & ~(p > LEVEL_LEADER)
    if (clusters.sizes > 0).sum() < FEWEST_QUERIES or not told.any():
        return np.zeros(len(values), dtype=bool)
    gaps = values[leader] - values[told]
    flips = flip_ps(clusters.sums(np.where(np.isnan(gaps), 0.0, gaps)), seed)
    told[told] = [p is not None and p <= LEVEL_LEADER for p in flips]
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
