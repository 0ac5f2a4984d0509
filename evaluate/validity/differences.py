"""Differences between two groups of queries, and slopes over queries, with clustered intervals, many rows at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragassay.arrays import Floats, Truths
from ragassay.records import Figure

from ..inputs.clusters import Clusters
from ..statistics.clustered import ASSUMED_CORRELATION, NO_SPREAD
from ..statistics.resamples import rounded

CONFIDENCE = 0.95


class Estimates(NamedTuple):
    """(rows,) each: value, standard error and degrees of freedom, NaN where there is none; n: queries behind it."""

    value: Floats
    error: Floats
    df: Floats
    n: int
    n_failed: int

    def figures(self) -> list[Figure]:
        """Each with its 95% interval (Student's t)."""
        low, high = self._ends(CONFIDENCE)
        rows = zip(self.value.tolist(), low.tolist(), high.tolist(), strict=True)
        return [self._figure(*row) for row in rows]

    def told(self, n_tests: int) -> Truths:
        """(rows,): whether 0 is left out at the level of `n_tests` tests together (Bonferroni)."""
        low, high = self._ends(1 - (1 - CONFIDENCE) / max(1, n_tests))
        found: Truths = (low > 0) | (high < 0)
        return found

    def _ends(self, confidence: float) -> tuple[Floats, Floats]:
        from scipy.special import stdtrit

        with np.errstate(invalid="ignore"):
            usable = (self.df > 0) & (self.error > NO_SPREAD)
            reach = np.where(usable, stdtrit(np.maximum(self.df, 1), (1 + confidence) / 2) * self.error, np.nan)
        return self.value - reach, self.value + reach

    def _figure(self, value: float, low: float, high: float) -> Figure:
        if np.isnan(value):
            return Figure(value=None, n=self.n, n_failed=self.n_failed)
        ends = (None, None) if np.isnan(low) else (low, high)
        return rounded(value, self.n, self.n_failed, *ends)


def group_difference(values: Floats, inside: Truths, clusters: Clusters, n_failed: int = 0) -> Estimates:
    """The mean of values (rows, queries) where `inside` less the mean of the others.

    A cluster may have queries of both groups: the variance is that of the clusters' parts in the difference (the
    linearised estimator, Binder, International Statistical Review 51(3), 1983), with G / (G - 1) for G clusters. Its
    degrees of freedom are the smaller group's: its effective number of clusters (Kish) less 1. Values must be known.
    """
    sides = (inside, ~inside)
    sizes = [clusters.sums(side.astype(np.float64)) for side in sides]
    if not all(side.sum() for side in sizes):
        return _nothing(len(values), values.shape[1], n_failed)
    means = [values[:, side].mean(axis=1) for side in sides]
    parts = np.zeros_like(values)
    for side, mean, sign in zip(sides, means, (1, -1), strict=True):
        parts[:, side] = sign * (values[:, side] - mean[:, None]) / side.sum()
    n_clusters = int((clusters.sizes > 0).sum())
    error = np.sqrt((clusters.sums(parts) ** 2).sum(axis=1) * n_clusters / max(1, n_clusters - 1))
    df = min(effective(size) for size in sizes) - 1
    return Estimates(means[0] - means[1], error, np.full(len(values), df), values.shape[1], n_failed)


def slopes(values: Floats, x: Floats, clusters: Clusters, n_failed: int = 0) -> Estimates:
    """The least-squares slope of values (rows, queries) on x (queries,), all known; NaN where x does not vary.

    The error is the delete-one-cluster jackknife's (Bell and McCaffrey 2002: CR3). A slope rests on the clusters
    that lie far out: its degrees of freedom are their effective number (Kish, of each one's part in the slope's
    variance, where queries of a cluster are correlated by `ASSUMED_CORRELATION`) less 1.
    """
    x, y = x - x.mean(), values - values.mean(axis=1, keepdims=True)
    n, sx, sxx = (clusters.sums(one) for one in (np.ones_like(x), x, x * x))
    sy, sxy = clusters.sums(y), clusters.sums(y * x)
    whole = _slope(n.sum(), sx.sum(), sxx.sum(), sy.sum(axis=1), sxy.sum(axis=1))
    left = [total.sum(axis=-1, keepdims=True) - total for total in (n, sx, sxx, sy, sxy)]
    without = _slope(*left)[:, n > 0]
    n_clusters = without.shape[1]
    error = np.sqrt(((without - whole[:, None]) ** 2).sum(axis=1) * (n_clusters - 1) / max(1, n_clusters))
    parts = ASSUMED_CORRELATION * sx**2 + (1 - ASSUMED_CORRELATION) * sxx
    return Estimates(whole, error, np.full(len(values), effective(parts) - 1), values.shape[1], n_failed)


def effective(sizes: Floats) -> float:
    """How many clusters of one size are as many as these (Kish 1965)."""
    return float(sizes.sum() ** 2 / (sizes @ sizes)) if sizes.any() else 0.0


def _slope(n: Floats, sx: Floats, sxx: Floats, sy: Floats, sxy: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = n * sxx - sx * sx
        value: Floats = np.where(spread > NO_SPREAD, (n * sxy - sx * sy) / spread, np.nan)
    return value


def _nothing(rows: int, n: int, n_failed: int) -> Estimates:
    none = np.full(rows, np.nan)
    return Estimates(none, none, none, n, n_failed)
