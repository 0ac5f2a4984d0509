"""Which queries two runs have in common: the same id with the same text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ragassay.arrays import Ints
from ragassay.evaluate.inputs.clusters import Clusters

from ..index.read import Index
from ..looks.test_set import test_set


@dataclass(frozen=True, eq=False)
class SameQueries:
    """before, after: (queries,) the places in either run of those in common, by id. clusters: of these, in that order.

    only_before, only_after: how many the other run has not; reworded: how many of these have an id of the other with
    another text.
    """

    before: Ints
    after: Ints
    clusters: Clusters
    only_before: int
    only_after: int
    reworded: int

    @property
    def paired(self) -> bool:
        """Whether at least half of the smaller test set is in common, so that figures are compared query by query."""
        smaller = len(self.before) + min(self.only_before, self.only_after)
        return 0 < smaller <= 2 * len(self.before)


@lru_cache(maxsize=16)
def same_queries(before: Index, after: Index) -> SameQueries:
    """Of two indexes."""
    one, other = test_set(before), test_set(after)
    at = {query: place for place, query in enumerate(other.ids)}
    known = [(int(place), at[one.ids[place]]) for place in one.by_id if one.ids[place] in at]
    same = [(place, there) for place, there in known if one.texts[place] == other.texts[there]]
    mine, theirs = (np.array([pair[side] for pair in same], dtype=np.intp) for side in (0, 1))
    return SameQueries(
        mine,
        theirs,
        one.clusters.of([one.ids[place] for place in mine]),
        len(one.ids) - len(same),
        len(other.ids) - len(same),
        len(known) - len(same),
    )
