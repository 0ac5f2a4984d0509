"""Holm from the leader: from whom the agent with the largest mean is told, and how far each may be from it.

To call the leader the best it must beat each other. Each of the other agents has a one-sided p of the leader's being no
better; the smallest is held to `LEVEL` / (K - 1), the next to `LEVEL` / (K - 2), and so on, none to more than `LEVEL` /
2, and the first that fails ends it (Holm, Scandinavian Journal of Statistics 6, 1979). Where two agents are equally
good, either may lead, hence the half: naming the best errs where the test between the two that stand first errs (rank
verification for any covariance: Gutmann and Maymin, Annals of Statistics 15(3), 1987; Hung and Fithian, Annals of
Statistics 47(2), 2019; Sood, arXiv:2503.01065).

Who is not told from the leader may be the best, and so may whoever ranks above one that is not: the possible bests are
the top of the order. So "decided", "a set of one" and "none untold" are one thing. That the set holds the best is
checked by simulation and not proved (`benchmarks/coverage/verdict.py`; cf. Hansen, Lunde and Nason, Econometrica 79(2),
2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragassay.arrays import Floats, Truths
from ragassay.experiment.settings import FEWEST_SECTIONS as FEWEST_SECTIONS

from ..inputs.clusters import Clusters
from .clustered import NO_SPREAD, alike_interval, estimate
from .paired_comparison import tested_error
from .resamples import six_digits
from .sign_flip import flip_ps
from .spending import Look

LEVEL = 0.045
"""Of the whole ladder. At 5% two equal agents far ahead of all others are told apart in up to 5.5% of simulated
runs."""


@dataclass(frozen=True)
class Ladder:
    """The leader's mean less that of each other agent, those in order, best first; all arrays (others,).

    difference, low, high: with the ladder's interval, each end at `LEVEL` / max(K - 1, 2) one-sided; what failed counts
    whichever way moves the end out. NaN without two sections in common. p: one-sided; adjusted: two-sided, so that an
    agent is told exactly where it is at most 5%. told: from the leader. n, n_failed: queries both have, and those that
    either lacks. n_sections: with a value of any agent.
    """

    difference: Floats
    low: Floats
    high: Floats
    p: Floats
    adjusted: Floats
    told: Truths
    n: Sequence[int]
    n_failed: Sequence[int]
    n_sections: int


def holm_from_leader(
    seen: Floats,
    clusters: Clusters,
    seed: int,
    worst: Floats | None = None,
    best: Floats | None = None,
    look: Look | None = None,
    before: Truths | None = None,
    asked: Truths | None = None,
) -> Ladder:
    """seen: (agents, queries), the leader first and then the others in order; NaN where an agent has no value.

    worst, best: (others, queries), the leader's values less each other's with everything that failed against the
    leader, and for it; None where nothing failed. An agent is told only where it is by the values seen and by the
    worst. clusters: of the queries.

    look: the look at which this is asked, of a run that may end before all its queries are in; each level of the ladder
    then has its own spending. before: (others,), who was told at an earlier look, which stands. asked: as `seen`, where
    the agent was asked at all, which alone can fail; None: everywhere. That several ladders
    in a row err no more than one does is checked by simulation (`benchmarks/coverage/until.py`).
    """
    at = look.bound if look else float
    gaps = seen[0] - seen[1:]
    known = ~np.isnan(seen)
    n_sections = len(np.unique(clusters.numbers[known.any(axis=0)]))
    k = len(gaps)
    limits = np.array([at(min(LEVEL / left, LEVEL / 2)) for left in range(k, 0, -1)])
    tests = [_t(one, clusters, at(LEVEL / max(k, 2))) for one in (gaps, worst, best) if one is not None]
    p = np.max([one.p for one in tests[:2] if worst is not None or one is tests[0]], axis=0)
    if n_sections < FEWEST_SECTIONS:
        p = np.ones(k)
    p = _flipped(p, gaps, clusters, seed)
    if before is not None:
        p = np.where(before, 0.0, p)
    # Whoever ranks above one that is not told may be the best as well.
    adjusted = np.array([six_digits(one) for one in np.maximum.accumulate(_adjusted(p, limits)[::-1])[::-1]])
    low, high = np.min([one.low for one in tests], axis=0), np.max([one.high for one in tests], axis=0)
    told: Truths = adjusted <= 0.05
    # Of a step-down procedure the limit of what is told is 0 (Guilbaud, Biometrical Journal 50(5), 2008).
    low = np.where(told, np.maximum(low, 0.0), np.minimum(low, 0.0))
    both = known[0] & known[1:]
    owed = np.ones_like(both) if asked is None else asked[0] & asked[1:]
    return Ladder(
        tests[0].value,
        low,
        high,
        p,
        adjusted,
        told,
        both.sum(axis=1).tolist(),
        (owed & ~both).sum(axis=1).tolist(),
        n_sections,
    )


@dataclass(frozen=True)
class _T:
    """Of each row: the mean, the one-sided p of its being at most 0, its interval's ends."""

    value: Floats
    p: Floats
    low: Floats
    high: Floats


def _t(gaps: Floats, clusters: Clusters, level: float) -> _T:
    """The clustered t-test, CR3 (`tested_error`); without spread p is left to the flips, and is 1 of no lead."""
    from scipy.special import stdtr, stdtrit

    there = ~np.isnan(gaps)
    counts = there.astype(np.float64)
    found = estimate(clusters.sums(np.where(there, gaps, 0.0)), clusters.sums(counts))
    error = tested_error(found, there.sum(axis=-1))
    spread = error > NO_SPREAD
    with np.errstate(invalid="ignore", divide="ignore"):
        p = np.where(spread, stdtr(found.df, -found.value / np.where(spread, error, np.nan)), np.nan)
        reach = stdtrit(found.df, 1 - level) * error
    low, high = np.clip(found.value - reach, -1.0, 1.0), np.clip(found.value + reach, -1.0, 1.0)
    for at in np.flatnonzero(~spread & (found.n_clusters > 1)):
        sizes = clusters.sums(counts[at])
        low[at], high[at] = alike_interval(found.value[at], sizes[sizes > 0], (-1.0, 1.0), 1 - 2 * level)
    p = np.where(np.isnan(p), np.where((found.n_clusters > 1) & (found.value > NO_SPREAD), 0.0, 1.0), p)
    return _T(found.value, p, low, high)


def _flipped(p: Floats, gaps: Floats, clusters: Clusters, seed: int) -> Floats:
    """The larger of p and that of the sign flips of whole sections, which are asked of what p alone would tell."""
    asked = np.flatnonzero(p <= LEVEL / 2)
    if not len(asked):
        return p
    # Points are halves of one in K - 1 games: as whole numbers their flips are counted and not drawn.
    whole = 2 * len(gaps) * np.where(np.isnan(gaps[asked]), 0.0, gaps[asked])
    flips = flip_ps(clusters.sums(whole), seed)
    p = p.copy()
    p[asked] = np.maximum(p[asked], [1.0 if one is None else one / 2 for one in flips])
    return p


def _adjusted(p: Floats, limits: Floats) -> Floats:
    """Two-sided p, at most 5% exactly where the ladder tells."""
    order = np.argsort(p, kind="stable")
    steps = np.minimum(1.0, np.maximum.accumulate(p[order] / limits) * 0.05)
    adjusted = np.empty(len(p))
    adjusted[order] = steps
    return adjusted
