"""What two runs of one system would have shown: the differences that were seen, the runs exchanged section by section.

Where nothing has changed but chance, which of two runs is called the new one is a coin's toss, for each section apart
(the hypothesis of `sign_flip`). So the same differences with signs drawn anew for whole sections are comparisons of an
unchanged system with this scatter. Where the upper ends of their intervals lie says how large a drop must be tolerated
so that most of them pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from ragassay.arrays import Floats, Ints

from ..inputs.clusters import Clusters
from .clustered import NO_SPREAD, intervals
from .paired_comparison import Paired

RUNS = 400
PASSING = 0.8
"""The share of unchanged runs that are to pass."""

_AT_ONCE = 1_000_000
_SEED = 7


def exchanges(clusters: Clusters, runs: int = RUNS, seed: int = _SEED) -> Floats:
    """(runs, clusters): 1, or -1 where a run has the section's two sides exchanged; the first run as it is."""
    heads = np.random.default_rng(seed).integers(0, 2, size=(runs, len(clusters.names)))
    signs: Floats = 1.0 - 2.0 * heads.astype(np.float64)
    signs[:1] = 1.0
    return signs


def upper_ends(pair: Paired, width: float | None, clusters: Clusters, signs: Floats) -> Floats:
    """(runs,): the upper end of the mean difference's 95% interval in each of `signs` (runs, clusters).

    clusters: of all queries, those of `pair` among them. width: of the measure's range, None where it has no end. 0
    where no value differs; NaN without two sections.
    """
    if not len(pair.gaps) or np.abs(pair.gaps).max() < NO_SPREAD:
        return np.full(len(signs), 0.0 if len(pair.gaps) else np.nan)
    numbers = np.array([clusters.number(query) for query in pair.queries], dtype=np.intp)
    step, counts = max(1, _AT_ONCE // len(numbers)), np.ones(len(numbers))
    limits = None if width is None else (-width, width)
    return np.concatenate(
        [
            intervals(part[:, numbers] * pair.gaps, counts, pair.clusters, limits, difference=True)[2]
            for part in np.split(signs, range(step, len(signs), step))
        ]
    )


def passed_by_most(ends: Floats, share: float = PASSING) -> Floats:
    """(columns,): limits of which a `share` of the rows of ends (runs, columns) pass all; each is passed by as many.

    The rank of a run is that of its worst column, so that no column is held to more than another (Besag and Clifford,
    Biometrika 76(4), 1989, of simultaneous tests by simulation).
    """
    ranks: Ints = np.argsort(np.argsort(ends, axis=0, kind="stable"), axis=0, kind="stable")
    worst = np.sort(ranks.max(axis=1))[ceil(share * len(ends)) - 1]
    limits: Floats = np.sort(ends, axis=0)[worst]
    return limits


def passable(ends: Sequence[Floats], measures: Sequence[str], widths: Sequence[float]) -> dict[str, float]:
    """Measure to the smallest share of its range which, tolerated, lets most unchanged runs pass on every row at once.

    ends, measures, widths: of each row. A row without ends has no part; a measure without any is left out.
    """
    known = [place for place, one in enumerate(ends) if not np.isnan(one).any()]
    names = list(dict.fromkeys(measures[place] for place in known))
    if not names:
        return {}
    shares = [
        np.max([ends[place] / widths[place] for place in known if measures[place] == name], axis=0) for name in names
    ]
    return dict(zip(names, passed_by_most(np.stack(shares, axis=1)).tolist(), strict=True))
