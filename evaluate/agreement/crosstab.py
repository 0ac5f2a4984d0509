"""Which labels met which, and how often: what every figure of agreement is computed from.

A cell is a pair of labels that occurs; its count is a sum over rows, and so it can be had for any weighting of the
clusters: once for the data (all 1), once for each draw of clusters, once with each cluster left out. Every figure of
this package is a function of cell counts of shape (..., cells), computed for all leading entries at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ragassay.arrays import Floats, Ints, sums_by_number

_AT_ONCE = 2_000_000
"""Weights and counts that are held at once beside the result."""


@dataclass(frozen=True)
class Crosstab:
    """`n_labels` labels, numbered 0 to n_labels - 1 in the order of the scale, and the cells (x[m], y[m]).

    x, y: (cells,) the row's and the column's label. row_cell: (rows,) rising, each row's cell. row_cluster: (rows,)
    its cluster, 0 to n_clusters - 1. mass: (rows,) what the row counts for.
    """

    n_labels: int
    x: Ints
    y: Ints
    row_cell: Ints
    row_cluster: Ints
    mass: Floats
    n_clusters: int

    def counts(self, weights: Floats) -> Floats:
        """(..., cells): the cell counts with the clusters weighted by `weights`, (..., clusters)."""
        flat = weights.reshape(-1, weights.shape[-1])
        summed = np.zeros((len(flat), len(self.x)))
        step = max(1, _AT_ONCE // max(1, flat.shape[1] + len(self.x)))
        for start in range(0, len(flat), step):
            summed[start : start + step] = (self._by_cluster @ flat[start : start + step].T).T
        return summed.reshape(*weights.shape[:-1], len(self.x))

    @cached_property
    def _by_cluster(self) -> Any:
        """What each cluster adds to each cell: (cells, clusters), sparse, summed in the same order on every machine."""
        from scipy.sparse import coo_array

        places = (self.row_cell, self.row_cluster)
        return coo_array((self.mass, places), shape=(len(self.x), self.n_clusters)).tocsr()

    def rows_by_label(self, counts: Floats) -> Floats:
        """(..., n_labels): the totals of the row's labels."""
        return sums_by_number(counts, self.x, self.n_labels)

    def columns_by_label(self, counts: Floats) -> Floats:
        """(..., n_labels): the totals of the column's labels."""
        return sums_by_number(counts, self.y, self.n_labels)


def crosstab(x: Sequence[int] | Ints, y: Sequence[int] | Ints, cluster: Ints, n_labels: int) -> Crosstab:
    """The table of rows (x[i], y[i]), each of cluster[i] and counting 1; three sequences of one length."""
    return weighted_crosstab(np.asarray(x), np.asarray(y), cluster, np.ones(len(cluster)), n_labels)


def weighted_crosstab(x: Ints, y: Ints, cluster: Ints, mass: Floats, n_labels: int) -> Crosstab:
    """The same with rows that count for `mass`; `cluster` may leave out numbers, and holds the highest one."""
    codes = x.astype(np.int64) * n_labels + y
    order = np.argsort(codes, kind="stable")
    cells, row_cell = np.unique(codes[order], return_inverse=True)
    return Crosstab(
        n_labels=n_labels,
        x=(cells // max(n_labels, 1)).astype(np.intp),
        y=(cells % max(n_labels, 1)).astype(np.intp),
        row_cell=row_cell.astype(np.intp),
        row_cluster=cluster[order],
        mass=mass[order],
        n_clusters=int(cluster.max(initial=-1)) + 1,
    )
