"""The front of quality, latency and tokens: the variants that no other dominates (Pareto)."""

from __future__ import annotations

import numpy as np

from ragassay.arrays import Floats, Truths

from .screened import Screened, two_digits


def front(screened: Screened) -> Truths:
    """(variants,): whether no other is at least as good, as fast and as sparing, and better in one of the three.

    Quality is the mean lead over the field, latency the median in two digits, tokens the mean in whole ones. What is
    unknown is worse than all that is known; what cannot be ranked is not on the front.
    """
    lead = np.where(screened.field.enough, screened.field.lead, np.nan)
    points = np.stack([-lead, two_digits(screened.latency_p50_s), np.round(screened.mean_tokens)], axis=1)
    found: Truths = undominated(np.nan_to_num(points, nan=np.inf)) & screened.field.enough
    return found


def undominated(points: Floats) -> Truths:
    """(points,): whether no other of `points` (points, dimensions) is at most as large in each, smaller in one."""
    kept = np.ones(len(points), dtype=bool)
    for at, point in enumerate(points):
        others = points[kept]
        kept[at] = not ((others <= point).all(axis=1) & (others < point).any(axis=1)).any()
    return kept
