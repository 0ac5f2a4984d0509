"""Figures as they are estimated: a value with its interval, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ragassay.arrays import Floats
from ragassay.records import Figure

from ..statistics.resamples import rounded
from .crosstab import Crosstab
from .interval import Ends, bootstrap_interval, draws, perfect_interval
from .rare import Rare, rare

Statistic = Callable[[Crosstab, Floats], Floats]
"""From a table and cell counts (..., cells) to the figure's values (...), NaN where it is undefined."""

_AT_ONCE = 2_000_000
"""Counts that are held at once."""


@dataclass
class Found:
    """Figures by name, over `n` rows, `n_failed` more being without a label; the reason for each that is undefined."""

    n: int
    n_failed: int
    figures: dict[str, Figure] = field(default_factory=dict)
    undefined: dict[str, str] = field(default_factory=dict)

    def put(self, name: str, value: float, ends: Ends, why: str) -> None:
        """A figure, or the reason why there is none."""
        if np.isfinite(value):
            self.figures[name] = rounded(value, self.n, self.n_failed, *ends)
        else:
            self.leave_out(name, why)

    def leave_out(self, name: str, why: str) -> None:
        """The figure without a value, and the reason."""
        self.figures[name] = Figure(value=None, n=self.n, n_failed=self.n_failed)
        self.undefined[name] = why


@dataclass(frozen=True)
class Sample:
    """A table with the draws of its clusters, and those of `rare` where resampling sees too few rare labels."""

    table: Crosstab
    weights: Floats
    rare: Rare | None = None

    @classmethod
    def of_pairs(cls, table: Crosstab, replicates: int, seed: int) -> Sample:
        """The draws for a table of pairs of labels."""
        return cls(table, draws(table.n_clusters, replicates, seed), rare(table, replicates, seed))

    @classmethod
    def of_coincidences(cls, table: Crosstab, pairs: Sample | None, replicates: int, seed: int) -> Sample:
        """The draws for a table of coincidences; `pairs` is what it was made from, where there are two raters."""
        few = pairs.rare.both_ways() if pairs is not None and pairs.rare is not None else None
        return cls(table, draws(table.n_clusters, replicates, seed), few)

    def every(self, statistic: Statistic) -> tuple[float, Floats]:
        """The value, and its value in each replicate."""
        drawn = [statistic(self.table, counts) for counts in self._drawn()]
        return float(statistic(self.table, self._counts)), np.concatenate(drawn)

    def _drawn(self) -> Iterable[Floats]:
        """The counts in each replicate, kept for the next figure where that is little, else some at a time."""
        step = max(1, _AT_ONCE // max(1, len(self.table.x)))
        if step >= len(self.weights):
            return [self._drawn_counts]
        starts = range(0, len(self.weights), step)
        return (self.table.counts(self.weights[start : start + step]) for start in starts)

    @cached_property
    def _drawn_counts(self) -> Floats:
        return self.table.counts(self.weights)

    @cached_property
    def _counts(self) -> Floats:
        return self.table.counts(np.ones(self.table.n_clusters))

    def chance(self) -> float:
        """The share of rows with equal labels if both raters labelled blindly, with the frequencies that they have."""
        counts = self._counts
        rows, columns = self.table.rows_by_label(counts), self.table.columns_by_label(counts)
        return float((rows * columns).sum() / counts.sum() ** 2)

    def interval(self, value: float, replicates: Floats, statistic: Statistic, *, bounded: bool) -> Ends:
        """The interval of a figure; where all labels agree and it is 1, that of `perfect_interval`.

        Where there are draws of `rare`, it is moved out to theirs.
        """
        if bounded and value > 1 - 1e-9 and bool((self.table.x == self.table.y).all()):
            sizes = np.bincount(self.table.row_cluster, self.table.mass, self.table.n_clusters).astype(np.float64)
            return perfect_interval(sizes, self.chance())
        n_clusters = len(np.unique(self.table.row_cluster))
        ends = bootstrap_interval(value, replicates, n_clusters, bounded=bounded)
        if self.rare is None or not bounded:
            return ends
        low, high = self.rare.ends(statistic)
        known = [value, *(end for end in ends if end is not None)]
        return min(low, *known), max(high, *known)

    def figure(self, found: Found, name: str, statistic: Statistic, why: str, *, bounded: bool = True) -> None:
        """Put the statistic, with its interval, among what was found; `why` says what makes it undefined."""
        value, replicates = self.every(statistic)
        if not np.isfinite(value):
            found.leave_out(name, why)
        else:
            found.put(name, value, self.interval(value, replicates, statistic, bounded=bounded), why)
