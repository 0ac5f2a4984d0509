"""The directions in which systems differ from query to query, and what real and written queries say along each.

Axes are the principal components of the covariance, over real queries, of the systems' values less their common mean.
A few real queries tell it badly, so it is drawn towards that of the written ones (`shrinkage`). In units of an axis's
standard deviation a mean of n real queries has the variance 1 / n along every axis, independently of the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragassay.arrays import Floats, Truths

from ..inputs.clusters import Clusters
from ..statistics.orders import contrasts
from .shrinkage import shrunk

LEADING = 0.85
"""Axes are leading up to the one with which they hold this share of the variance."""

_LEAST = 1e-9
"""An axis has at least this share of the first one's variance; others are rounding."""


@dataclass(frozen=True, eq=False)
class Axes:
    """loadings: (axes, systems), of what a step of one standard deviation changes; real, written: (axes,), the means.

    written_variance: (axes,), of `written`, clustered, without what written queries are off by. leading: (axes,).
    n: real queries. df: degrees of freedom of the covariance.
    """

    loadings: Floats
    real: Floats
    written: Floats
    written_variance: Floats
    leading: Truths
    n: int
    df: int


def axes_of(real: Floats, written: Floats, clusters: Clusters) -> Axes:
    """Of values (systems, queries); clusters: of the written queries. Needs two real and two written clusters.

    There is no axis where no two systems differ on any query.
    """
    basis = contrasts(len(real))
    ours, theirs = basis @ real, basis @ written
    found = shrunk(ours, theirs)
    variance, vectors = np.linalg.eigh(found.covariance)
    variance, vectors = variance[::-1], vectors[:, ::-1]
    kept = variance > max(_LEAST * float(variance[0]), 1e-15)
    variance, vectors = variance[kept], vectors[:, kept]
    turned = (vectors / np.sqrt(variance)).T
    before = np.cumsum(variance) - variance
    return Axes(
        loadings=(vectors * np.sqrt(variance)).T @ basis,
        real=turned @ ours.mean(axis=1),
        written=turned @ theirs.mean(axis=1),
        written_variance=_clustered(turned @ theirs, clusters),
        leading=before < LEADING * variance.sum(),
        n=real.shape[1],
        df=found.df,
    )


def _clustered(values: Floats, clusters: Clusters) -> Floats:
    """(rows,): the variance of the mean of values (rows, queries), by clusters."""
    sums = clusters.sums(values - values.mean(axis=1, keepdims=True))
    n = sums.shape[1]
    variance: Floats = (sums**2).sum(axis=1) / values.shape[1] ** 2 * (n / (n - 1))
    return variance
