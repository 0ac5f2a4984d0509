"""Variants by family: the kind of retriever, over whose settings a family's value of a query is the mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragassay.arrays import Floats, Truths

from ..inputs.clusters import Clusters
from ..screening.screened import Screened

KIND = "kind"


@dataclass(frozen=True, eq=False)
class Measured:
    """Quality of variants on queries. names, families: of the variants. values: (variants, queries), 0 to 1, NaN where
    one failed. clusters: of these queries. quality: the measure's name."""

    names: tuple[str, ...]
    families: tuple[str, ...]
    values: Floats
    clusters: Clusters
    quality: str

    @classmethod
    def of(cls, screened: Screened) -> Measured:
        """By the measure that the screening ranks by; variants without a value on half of the queries left out."""
        kept = np.sort(screened.ranked)
        families = tuple(str(screened.settings[at].get(KIND, "")) for at in kept)
        names = tuple(screened.names[at] for at in kept)
        return cls(names, families, screened.values[kept], screened.clusters, screened.quality)

    def only(self, queries: Sequence[str]) -> Measured:
        """On those of these queries that there are, in our order."""
        wanted = set(queries)
        there = np.array([query in wanted for query in self.clusters.queries], dtype=bool)
        clusters = self.clusters.of([query for query in self.clusters.queries if query in wanted])
        return Measured(self.names, self.families, self.values[:, there], clusters, self.quality)

    @property
    def whole(self) -> Truths:
        """(queries,): on which every variant has a value."""
        lacking: Truths = np.isnan(self.values)
        return np.asarray(~lacking.any(axis=0))

    def complete(self) -> Measured:
        """On the queries on which every variant has a value."""
        return self.only([query for query, whole in zip(self.clusters.queries, self.whole, strict=True) if whole])

    @property
    def family_names(self) -> tuple[str, ...]:
        """Each family once, in order."""
        return tuple(dict.fromkeys(self.families))

    @property
    def by_family(self) -> Floats:
        """(families, queries): the mean over a family's variants; every value must be known."""
        rows = [self.values[np.array(self.families) == family].mean(axis=0) for family in self.family_names]
        return np.array(rows).reshape(len(rows), self.values.shape[1])

    def best(self, means: Floats) -> tuple[str, ...]:
        """The names of the variants with the highest of `means` (variants,)."""
        return tuple(self.names[at] for at in np.flatnonzero(means > means.max() - 1e-9))
