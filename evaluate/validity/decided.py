"""Which pairs of retrievers a set of queries decides, and how often another set says the same or the opposite.

A pair is decided where the paired t-test over the queries, clustered where they share a source, has p below 5%. There
is no correction for the number of pairs: what is asked is not whether some pair differs, but how one set of queries
does what another does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragassay.arrays import Floats, Ints

from ..statistics.clustered import estimate
from ..statistics.orders import pairs
from ..statistics.paired_comparison import LEVEL, t_p
from .scores import Scores


class Shares(NamedTuple):
    """n: pairs that people's queries decide. found: how many of them the other set decides too. opposite: of those, how
    many the other way round."""

    n: int
    found: int
    opposite: int

    @property
    def decided(self) -> float:
        """The share found; NaN where there is none to be found."""
        return self.found / self.n if self.n else np.nan

    @property
    def contradicted(self) -> float:
        """The share of those found that is opposite; NaN where none was found."""
        return self.opposite / self.found if self.found else np.nan


def decisions(scores: Scores, weights: Ints | None = None) -> Floats:
    """(pairs,): 1 where the first of two is decided to be better, -1 the second, 0 where it is left open.

    weights: (clusters,) how often each cluster was drawn; each once by default. A pair without any spread is open.
    """
    first, second = pairs(len(scores.values))
    drawn = np.arange(scores.n_clusters) if weights is None else np.repeat(np.arange(scores.n_clusters), weights)
    sizes = scores.clusters.sizes[drawn]
    found = estimate((scores.sums[first] - scores.sums[second])[:, drawn], sizes)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = t_p(found, int(sizes.sum()))
    return np.where(p < LEVEL, np.sign(found.value), 0.0)


def shares(people: Floats, other: Floats) -> Shares:
    """From what both decide, (pairs,) each."""
    of_people = people != 0
    both = of_people & (other != 0)
    return Shares(int(of_people.sum()), int(both.sum()), int((both & (people != other)).sum()))
