"""Which queries go together: what is made from one section of a document is not independent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ragassay.arrays import Floats, Ints, Truths, sums_by_number


@dataclass(frozen=True, eq=False)
class Clusters:
    """Queries and the cluster that each is of; made once and handed down.

    queries: ids. numbers: (queries,) each one's cluster, an index into `names`. names: the clusters', in order.
    """

    queries: tuple[str, ...] = ()
    numbers: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    names: tuple[str, ...] = ()

    @classmethod
    def named(cls, queries: Sequence[str], names: Sequence[str]) -> Clusters:
        """From the name of each query's cluster."""
        at = {name: number for number, name in enumerate(sorted(set(names)))}
        return cls(tuple(queries), np.array([at[name] for name in names], dtype=np.intp), tuple(at))

    @property
    def sizes(self) -> Floats:
        """(clusters,): how many queries each has."""
        return np.bincount(self.numbers, minlength=len(self.names)).astype(np.float64)

    def number(self, query: str) -> int:
        """The number of a query's cluster. Raises KeyError for one that is not in `queries`."""
        return self._numbers[query]

    def of(self, queries: Sequence[str]) -> Clusters:
        """The clusters of these queries alone, in their order; one that is not known is its own cluster."""
        known = self._numbers
        return Clusters.named(queries, [self.names[known[q]] if q in known else f"query {q}" for q in queries])

    def where(self, which: Truths) -> Clusters:
        """Some of the queries, `which` (queries,); clusters keep their numbers, also those left without a query."""
        if which.all():
            return self
        kept = tuple(map(self.queries.__getitem__, np.flatnonzero(which).tolist()))
        return Clusters(kept, self.numbers[which], self.names)

    def only(self, which: Truths) -> Clusters:
        """As `where`, without the clusters that are left without a query; what `of` makes of the ids, sooner."""
        used, numbers = np.unique(self.numbers[which], return_inverse=True)
        kept = tuple(map(self.queries.__getitem__, np.flatnonzero(which).tolist()))
        return Clusters(kept, numbers.astype(np.intp), tuple(self.names[number] for number in used.tolist()))

    def sums(self, values: Floats) -> Floats:
        """(..., clusters): `values` (..., queries) summed by cluster."""
        return sums_by_number(values, self.numbers, len(self.names), self._order)

    @cached_property
    def places(self) -> dict[str, int]:
        """Query id to its place in `queries`."""
        return {query: place for place, query in enumerate(self.queries)}

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(self.numbers, kind="stable")

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return dict(zip(self.queries, self.numbers.tolist(), strict=True))


ALONE = Clusters()
"""Each query by itself."""


def clusters_of_rows(names: Sequence[str]) -> Clusters:
    """The rows of a table, each told by its place: those with the same name go together."""
    return Clusters.named([str(place) for place, _ in enumerate(names)], names)
