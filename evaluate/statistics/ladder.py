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

Where a run may end early the ladder is asked at several looks at data that grow, and all of them spend no more than
one. To look again and again with the usual test finds something in the end whatever there is (Armitage, McPherson and
Rowe, JRSS A 132(2), 1969). A spending function says how much of the level may have been used once a share f of the
planned data is in (Lan and DeMets, Biometrika 70(3), 1983); the bound of each look is what uses just that, given that
no look before it ended the run. With f squared (Kim and DeMets, Biometrika 74(1), 1987) runs end early; with O'Brien
and Fleming's function hardly anything is used before the last looks, and most runs are as long as planned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from ragassay.arrays import Floats, Truths
from ragassay.experiment.settings import FEWEST_SECTIONS as FEWEST_SECTIONS

from ..inputs.clusters import Clusters
from .clustered import NO_SPREAD, alike_interval, estimate
from .paired_comparison import tested_error
from .resamples import six_digits
from .sign_flip import flip_ps

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
    values, ps, lows, highs = zip(*tests, strict=True)
    p = np.max(ps[:1] if worst is None else ps[:2], axis=0)
    if n_sections < FEWEST_SECTIONS:
        p = np.ones(k)
    # What p alone would tell the sign flips of whole sections must tell too. Points are halves of one in K - 1 games:
    # as whole numbers their flips are counted and not drawn.
    tried = np.flatnonzero(p <= LEVEL / 2)
    flips = flip_ps(clusters.sums(2 * k * np.nan_to_num(gaps[tried])), seed)
    p[tried] = np.maximum(p[tried], [1.0 if one is None else one / 2 for one in flips])
    if before is not None:
        p = np.where(before, 0.0, p)
    # Two-sided, at most 5% exactly where the ladder tells.
    order, adjusted = np.argsort(p, kind="stable"), np.empty(k)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] / limits) * 0.05)
    # Whoever ranks above one that is not told may be the best as well.
    adjusted = np.array([six_digits(one) for one in np.maximum.accumulate(adjusted[::-1])[::-1]])
    low, high = np.min(lows, axis=0), np.max(highs, axis=0)
    told: Truths = adjusted <= 0.05
    # Of a step-down procedure the limit of what is told is 0 (Guilbaud, Biometrical Journal 50(5), 2008).
    low = np.where(told, np.maximum(low, 0.0), np.minimum(low, 0.0))
    both = known[0] & known[1:]
    owed = np.ones_like(both) if asked is None else asked[0] & asked[1:]
    return Ladder(
        values[0],
        low,
        high,
        p,
        adjusted,
        told,
        both.sum(axis=1).tolist(),
        (owed & ~both).sum(axis=1).tolist(),
        n_sections,
    )


def _t(gaps: Floats, clusters: Clusters, level: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Of each row: the mean, the one-sided p of its being at most 0, its interval's ends.

    By the clustered t-test, CR3 (`tested_error`); without spread p is left to the flips, and is 1 of no lead.
    """
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
    return found.value, p, low, high


Spending = Literal["kim-demets", "obrien-fleming"]

_FARTHEST, _POINTS = 9.0, 400
"""How far below 0 paths are followed, in standard deviations, and the points at which their density is kept."""


def spent(level: float, fraction: float, spending: Spending = "kim-demets") -> float:
    """Of a one-sided level (0 to 1) what may be used once a fraction (0 to 1) of the data is in.

    Kim and DeMets 1987, their family with exponent 2: level · f². O'Brien and Fleming's, of Lan and DeMets 1983:
    2 - 2 Φ(z / √f), z the quantile of 1 - level / 2.
    """
    if fraction <= 0:
        return 0.0
    if fraction >= 1:
        return level
    if spending == "kim-demets":
        return level * fraction**2
    from scipy.special import ndtr, ndtri

    return float(2 * ndtr(-ndtri(1 - level / 2) / np.sqrt(fraction)))


@lru_cache(maxsize=512)
def bounds(
    level: float,
    fractions: tuple[float, ...],
    spending: Spending = "kim-demets",
    times: tuple[float, ...] | None = None,
) -> tuple[float, ...]:
    """The one-sided p, 0 to 1, that ends the run at each look.

    level: of all looks, 0 to 0.5. fractions: rising, the last at most 1, of the planned data at each look. times: what
    the level is spent by in place of them, where it is not known how much data there will be; of the fractions only the
    ratios count then (Lan and DeMets, Statistics in Medicine 8(10), 1989). Each is the p of a normal with independent
    increments (Jennison and Turnbull, Group Sequential Methods, 2000, chapter 19: the density of the paths that go on
    is integrated from look to look). Raises ValueError for fractions that do not rise.
    """
    if list(fractions) != sorted(set(fractions)) or not fractions or not 0 < fractions[0] <= fractions[-1] <= 1:
        raise ValueError("fractions must rise from above 0 to at most 1")
    from scipy.optimize import brentq
    from scipy.special import ndtr

    found: list[float] = []
    place, weight = np.zeros(1), np.ones(1)  # where the paths are that go on, and how many of all
    before, used = 0.0, 0.0
    for fraction, time in zip(fractions, times or fractions, strict=True):
        step, root = np.sqrt(fraction - before), np.sqrt(fraction)
        wanted = spent(level, time, spending) - used

        def beyond(end: float, place: Floats = place, weight: Floats = weight, step: float = step) -> float:
            return float(weight @ ndtr((place - end) / step))

        end = root * _FARTHEST
        if beyond(end) < wanted:
            end = brentq(lambda at, wanted=wanted: beyond(at) - wanted, -root * _FARTHEST, end, xtol=1e-10)
        found.append(float(ndtr(-end / root)))
        used += wanted
        nodes, sizes = _gauss_legendre()
        low = -root * _FARTHEST
        new = low + (nodes + 1) * (end - low) / 2
        density = np.exp(-(((new[:, None] - place) / step) ** 2) / 2) @ weight / (step * np.sqrt(2 * np.pi))
        place, weight, before = new, density * sizes * (end - low) / 2, fraction
    return tuple(found)


@lru_cache(maxsize=1)
def _gauss_legendre() -> tuple[Floats, Floats]:
    nodes, sizes = np.polynomial.legendre.leggauss(_POINTS)
    return nodes, sizes


@dataclass(frozen=True)
class Look:
    """A look of a plan: number `at`, from 0, when `ends[at]` of the last of `ends` queries are in.

    by_look: the ends that are still to come are guesses, and each look spends what it would were all as far apart.
    """

    ends: tuple[int, ...]
    at: int
    spending: Spending = "kim-demets"
    by_look: bool = False

    def bound(self, level: float) -> float:
        """The one-sided p that stands at this look for a one-sided level of all looks."""
        taken = self.ends[: self.at + 1]
        if not self.by_look:
            return bounds(level, tuple(end / self.ends[-1] for end in taken), self.spending)[-1]
        times = tuple(look / len(self.ends) for look, _ in enumerate(taken, 1))
        return bounds(level, tuple(end / taken[-1] for end in taken), self.spending, times)[-1]


def whole_sections(sizes: Sequence[int], looks: int) -> tuple[int, ...]:
    """After how many queries to look: `looks` times at most, evenly, each time at the end of a section.

    sizes: queries of each section, in the order in which they are asked.
    """
    ends = np.cumsum(sizes)
    wanted = ends[-1] * np.arange(1, looks + 1) / looks
    nearest = ends[np.abs(ends[:, None] - wanted).argmin(axis=0)]
    return tuple(int(end) for end in np.unique([*nearest, ends[-1]]))
