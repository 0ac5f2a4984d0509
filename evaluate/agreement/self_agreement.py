"""How often a judge gives the same label when asked the same again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ragassay.records import Figure

from ..inputs.clusters import clusters_of_rows
from ..statistics.clustered import interval
from ..statistics.resamples import rounded


def repeat_consistency(labels: Sequence[Sequence[float | None]], clusters: Sequence[str]) -> Figure:
    """The mean over items of the share of their pairs of repeats with equal labels (Fleiss 1971's P_i), 0 to 1.

    labels: for each item the label of each repeat, None where it failed. clusters: each item's query or section. The
    items, not the pairs, are what is sampled, and items of one cluster are kept together: the interval is that of
    `evaluate.statistics.clustered`. n: items with at least two labels; n_failed: the others.
    """
    shares = [_pairwise(item) for item in labels]
    known = [(share, cluster) for share, cluster in zip(shares, clusters, strict=True) if share is not None]
    failed = len(shares) - len(known)
    if not known:
        return Figure(value=None, n=0, n_failed=failed)
    values = np.array([share for share, _ in known])
    together = clusters_of_rows([name for _, name in known])
    value, low, high = interval(values, np.ones(len(values)), together, (0.0, 1.0))
    return rounded(value, len(known), failed, low, high)


def _pairwise(item: Sequence[float | None]) -> float | None:
    counts = Counter(label for label in item if label is not None)
    m = counts.total()
    return sum(c * (c - 1) for c in counts.values()) / (m * (m - 1)) if m >= 2 else None
