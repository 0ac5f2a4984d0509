"""The differences of every two agents' values, matched by query id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, compress

import numpy as np

from ragassay.arrays import Floats, Truths

from ..inputs.clusters import ALONE, Clusters
from .clustered import Values

_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class ValueTable:
    """The values of agents on a measure. ids: of the queries, sorted. known: (agents, queries), NaN where an agent has
    none; owed: (agents, queries), where it is asked for one."""

    agents: tuple[str, ...]
    ids: Sequence[str]
    known: Floats
    owed: Truths

    @classmethod
    def of(cls, values: Mapping[str, Values]) -> ValueTable:
        """From agent to query to value."""
        ids = sorted(set().union(*values.values()))
        known, owed = np.empty((len(values), len(ids))), np.ones((len(values), len(ids)), dtype=bool)
        for place, row in enumerate(values.values()):
            known[place] = np.array(list(map(row.get, ids)), dtype=np.float64)
            if len(row) < len(ids):
                owed[place] = [query in row for query in ids]
        return cls(tuple(values), ids, known, owed)


Lacking = tuple[tuple[str, ...], tuple[str, ...]]
"""The ids, sorted, on which the first and the second of a pair have no value."""


@dataclass(frozen=True)
class Gaps:
    """The differences of pairs that have values on the same queries.

    places: of each pair in the order of `itertools.combinations`. gaps: (pairs, queries). clusters: of these queries.
    """

    places: Sequence[int]
    gaps: Floats
    clusters: Clusters
    lacking: Sequence[Lacking]


def gaps_of_pairs(values: ValueTable, clusters: Clusters = ALONE) -> Iterator[Gaps]:
    """Every two of `values`, the first less the second, in blocks of bounded size."""
    ids, owed, known = values.ids, values.owed, values.known
    there = ~np.isnan(known)
    alike: dict[bytes, list[tuple[int, int, int]]] = {}
    for place, (one, other) in enumerate(combinations(range(len(known)), 2)):
        alike.setdefault((there[one] & there[other]).tobytes(), []).append((place, one, other))
    of_all = clusters.of(ids)
    step = max(1, _AT_ONCE // max(1, len(ids)))
    for key, pairs in alike.items():
        both = np.frombuffer(key, dtype=bool)
        mine = of_all.only(both)
        for start in range(0, len(pairs), step):
            places, first, second = (list(part) for part in zip(*pairs[start : start + step], strict=True))
            asked = owed[first] | owed[second]
            lacking = [_named(ids, asked & ~there[side]) for side in (first, second)]
            gaps = known[first] - known[second]
            yield Gaps(places, gaps if both.all() else gaps[:, both], mine, list(zip(*lacking, strict=True)))


def _named(ids: Sequence[str], which: Truths) -> list[tuple[str, ...]]:
    """Of each row of `which` (rows, ids) the ids."""
    return [tuple(compress(ids, row.tolist())) if row.any() else () for row in which]
