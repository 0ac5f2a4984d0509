"""The mean of each row of a table over its queries, with the clustered interval, all rows at once."""

from __future__ import annotations

import numpy as np

from ragassay.arrays import Floats, Truths
from ragassay.records import Figure

from ..inputs.clusters import Clusters
from ..statistics.clustered import Range, intervals
from ..statistics.resamples import rounded

UNIT: Range = (0.0, 1.0)
_AT_ONCE = 2_000_000


def mean_figures(
    values: Floats, clusters: Clusters, limits: Range | None = UNIT, *, difference: bool = False
) -> list[Figure]:
    """The mean of each row of `values` (rows, queries), NaN where it has none: those are `n_failed`.

    limits: of a query's value, None where it has none. difference: whether values are paired differences. Rows that
    lack the same queries are worked out together.
    """
    found: dict[int, Figure] = {}
    known = ~np.isnan(values)
    alike: dict[bytes, list[int]] = {}
    for row, there in enumerate(known):
        alike.setdefault(there.tobytes(), []).append(row)
    step = max(1, _AT_ONCE // max(1, values.shape[1]))
    for rows in alike.values():
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            found |= zip(part, _figures(values[part], known[part[0]], clusters, limits, difference), strict=True)
    return [found[row] for row in range(len(values))]


def _figures(
    values: Floats,
    known: Truths,
    clusters: Clusters,
    limits: Range | None,
    difference: bool,
) -> list[Figure]:
    """Of rows with a value on the queries of `known`, and on no other."""
    n, failed = int(known.sum()), int((~known).sum())
    if not n:
        return [Figure(value=None, n=0, n_failed=failed) for _ in values]
    value, low, high = intervals(values[:, known], np.ones(n), clusters.where(known), limits, difference=difference)
    rows = zip(value.tolist(), low.tolist(), high.tolist(), strict=True)
    return [rounded(mean, n, failed, *((None, None) if np.isnan(a + b) else (a, b))) for mean, a, b in rows]
