"""Intervals of agreement where one rater gave nearly all things the same label, and resampling sees too little.

With two labels of the rare kind, a third of the resamples have one or none, and where a rater gave one label throughout
kappa is 0 in every resample, whatever the other said. There the figure is drawn from a posterior instead: a Bayesian
bootstrap of the clusters (Rubin, Annals of Statistics 9(1), 1981) with pseudo-rows for every pair of the labels seen,
which for two labels and rows that stand alone is the Dirichlet posterior under Jeffreys' prior, 1/2 for each of the
four cells (as Basu, Banerjee and Sen, Biometrics 56(2), 2000, have it for kappa).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ragassay.arrays import Floats, Ints

from ..statistics.resamples import expanded_tail
from .crosstab import Crosstab

FEW = 3
"""A rater who gave at most so many things another label than the commonest one has rare labels."""
PSEUDO_ROWS = 2.0
"""Over all pairs of labels, each the mass of a cluster: 1/2 for each of four."""


@dataclass(frozen=True)
class Rare:
    """Draws of the counts of every pair of the labels seen, (replicates, cells), and the table they are counts of."""

    table: Crosstab
    counts: Floats
    n_clusters: int

    def ends(self, statistic: Callable[[Crosstab, Floats], Floats], confidence: float = 0.95) -> tuple[float, float]:
        """The interval of a figure of agreement, its quantiles as far out as few clusters need (Hesterberg 2015)."""
        tail = expanded_tail(self.n_clusters, confidence)
        low, high = np.clip(np.quantile(statistic(self.table, self.counts), [tail, 1 - tail]), -1.0, 1.0)
        return float(low), float(high)

    def both_ways(self) -> Rare:
        """The same as coincidences, every pair counted once in each order."""
        side = round(len(self.table.x) ** 0.5)
        square = self.counts.reshape(-1, side, side)
        return Rare(self.table, (square + square.swapaxes(1, 2)).reshape(len(square), -1), self.n_clusters)


def rare(table: Crosstab, replicates: int, seed: int) -> Rare | None:
    """The draws for a table of pairs; None where both raters' labels vary enough, and where nothing varies at all."""
    counts = table.counts(np.ones(table.n_clusters))
    sides = (table.rows_by_label(counts), table.columns_by_label(counts))
    seen = np.flatnonzero(sides[0] + sides[1])
    n_clusters = len(np.unique(table.row_cluster))
    minority = min(float(side.sum() - side.max(initial=0.0)) for side in sides)
    if len(seen) < 2 or n_clusters < 2 or minority > FEW:
        return None
    generator = np.random.default_rng(seed)
    whole = _all_pairs(table, seen)
    drawn = whole.counts(generator.gamma(1.0, size=(replicates, table.n_clusters)))
    each = PSEUDO_ROWS / len(whole.x)
    mass = float(table.mass.sum()) / n_clusters
    return Rare(whole, drawn + mass * generator.gamma(each, size=drawn.shape), n_clusters)


def _all_pairs(table: Crosstab, seen: Ints) -> Crosstab:
    """The same rows, with a cell for every pair of the labels seen. A row of no mass keeps each cell in its place."""
    x, y = (side.ravel() for side in np.meshgrid(seen, seen, indexing="ij"))
    cell = np.searchsorted(seen, table.x) * len(seen) + np.searchsorted(seen, table.y)
    row_cell = np.concatenate([cell[table.row_cell], np.arange(len(x))]).astype(np.intp)
    order = np.argsort(row_cell, kind="stable")
    cluster = np.concatenate([table.row_cluster, np.zeros(len(x), dtype=np.intp)])
    mass = np.concatenate([table.mass, np.zeros(len(x))])
    return Crosstab(table.n_labels, x, y, row_cell[order], cluster[order], mass[order], table.n_clusters)
