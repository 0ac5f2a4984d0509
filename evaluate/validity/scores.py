"""The values of systems on queries, resampled by whole clusters of queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ragassay.arrays import Floats, Ints
from ragassay.records import Figure

from ..inputs.clusters import Clusters
from ..statistics.clustered import interval
from ..statistics.resamples import rounded


@dataclass(frozen=True, eq=False)
class Scores:
    """values: (retrievers, queries), 0 to 1. clusters: of these queries. n_failed: queries that have no value."""

    values: Floats
    clusters: Clusters
    n_failed: int = 0

    @property
    def n(self) -> int:
        """How many queries there are."""
        return len(self.clusters.queries)

    @property
    def n_clusters(self) -> int:
        """How many of their clusters."""
        return len(self.clusters.names)

    @property
    def means(self) -> Floats:
        """(retrievers,)"""
        means: Floats = self.values.mean(axis=1)
        return means

    @cached_property
    def sums(self) -> Floats:
        """(retrievers, clusters): the values of each cluster's queries, summed."""
        return self.clusters.sums(self.values)

    def drawn_means(self, weights: Ints | Floats) -> Floats:
        """(draws, retrievers): the means where each cluster was drawn as often as `weights` (draws, clusters) say."""
        means: Floats = (weights @ self.sums.T) / (weights @ self.clusters.sizes)[:, None]
        return means

    def figures(self, names: Sequence[str]) -> dict[str, Figure]:
        """Each retriever's mean, by name, with its clustered interval."""
        found = {}
        for name, values in zip(names, self.values, strict=True):
            found[name] = self.mean(values)
        return found

    def mean(self, values: Floats) -> Figure:
        """The mean of a value from 0 to 1 of each query, (queries,)."""
        value, low, high = interval(values, np.ones(self.n), self.clusters, (0.0, 1.0))
        return rounded(value, self.n, self.n_failed, low, high)
