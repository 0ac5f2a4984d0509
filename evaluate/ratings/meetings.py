"""Who has met whom on which query: rows of numbers, since a table of all queries and pairs would be nearly empty."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ragassay.arrays import Ints


@dataclass(frozen=True)
class Meetings:
    """Who has met whom on which query, verdict or not: one row each, all (meetings,), those of a pair side by side.

    one, other: indices of agents, one < other; query: index of the query.
    """

    one: Ints
    other: Ints
    query: Ints

    @classmethod
    def of(cls, one: Ints, other: Ints, query: Ints) -> Meetings:
        """From rows in any order."""
        order = np.lexsort((query, other, one))
        return cls(one[order], other[order], query[order])

    def among(self, agents: Ints) -> Meetings:
        """Those of these agents, (agents,) sorted, which are then told by their places among them."""
        kept = np.isin(self.one, agents) & np.isin(self.other, agents)
        one, other = (np.searchsorted(agents, side[kept]) for side in (self.one, self.other))
        return Meetings(one, other, self.query[kept])

    @cached_property
    def starts(self) -> Ints:
        """(pairs,): where the rows of each pair begin."""
        return np.flatnonzero((np.diff(self.one, prepend=-1) != 0) | (np.diff(self.other, prepend=-1) != 0))

    @cached_property
    def queries(self) -> Ints:
        """Those on which anybody met."""
        return np.unique(self.query)
