"""Which figures moved from one run to another, and whether by more than chance.

Where the runs share their queries each difference is the mean of the paired ones, clustered by source section, as
`compare` has it; else it is between two groups of queries. All measures and agents are corrected together (Holm).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from ragassay.arrays import Floats, Truths
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.results import POINTS
from ragassay.evaluate.statistics.clustered import estimate, interval, intervals
from ragassay.evaluate.statistics.holm import holm
from ragassay.evaluate.statistics.ladder import FEWEST_SECTIONS
from ragassay.evaluate.statistics.paired_comparison import flips_for_want_of_t, pair_verdict, t_p
from ragassay.evaluate.statistics.resamples import rounded
from ragassay.evaluate.validity.differences import group_difference
from ragassay.records import Figure

from ..index.read import Index, Measure
from ..looks.test_set import test_set
from .same_queries import SameQueries, same_queries

Said = Literal["better", "worse", "not told apart", "too few"]


@dataclass(frozen=True)
class Moved:
    """One agent on one measure. difference: after less before, of the queries that both runs have where paired, else
    of all of both. p: two-sided, before the correction; None where the test is not defined."""

    measure: Measure
    agent: str
    before: Figure
    after: Figure
    difference: Figure
    p: float | None = None
    said: Said = "not told apart"


@lru_cache(maxsize=16)
def moved(before: Index, after: Index, seed: int) -> tuple[Moved, ...]:
    """Every measure and agent that both runs have; points only where the same agents played."""
    theirs = {one.name: one for one in after.measures}
    same, found = same_queries(before, after), list[Moved]()
    for measure in before.measures:
        other = theirs.get(measure.name)
        if other is None or (other.low, other.high) != (measure.low, measure.high):
            continue
        if measure.name == POINTS and set(before.agents) != set(after.agents):
            continue
        agents = [agent for agent in before.column(measure.name) if agent in after.column(measure.name)]
        found += (
            _paired(before, after, measure, agents, same, seed)
            if same.paired
            else _apart(before, after, measure, agents)
        )
    return _told(found)


def _told(rows: Sequence[Moved]) -> tuple[Moved, ...]:
    """With what is said of each, corrected over all."""
    adjusted = holm([row.p for row in rows])
    return tuple(replace(row, said=_said(row, p)) for row, p in zip(rows, adjusted, strict=True))


def _said(row: Moved, p: float | None) -> Said:
    if row.said == "too few":
        return "too few"
    verdict = pair_verdict(row.difference.value, p)
    if verdict not in ("better", "worse"):
        return "not told apart"
    up = (verdict == "better") != row.measure.lower_is_better
    return "better" if up else "worse"


def _paired(
    before: Index, after: Index, measure: Measure, agents: Sequence[str], same: SameQueries, seed: int
) -> Iterator[Moved]:
    """Agents with values on the same queries are worked out together."""
    ends = {
        agent: (before.column(measure.name)[agent][same.before], after.column(measure.name)[agent][same.after])
        for agent in agents
    }
    alike: dict[bytes, list[str]] = {}
    for agent, (one, other) in ends.items():
        alike.setdefault((~np.isnan(one) & ~np.isnan(other)).tobytes(), []).append(agent)
    made: dict[str, Moved] = {}
    for key, group in alike.items():
        both = np.frombuffer(key, dtype=np.bool_)
        lacking = [_lacking(before, after, measure.name, agent, same, both) for agent in group]
        gaps = np.array([ends[agent][1][both] - ends[agent][0][both] for agent in group])
        sides = [np.array([ends[agent][side][both] for agent in group]) for side in (0, 1)]
        for agent, row in zip(group, _block(measure, gaps, sides, same.clusters, both, lacking, seed), strict=True):
            made[agent] = replace(row, agent=agent)
    return (made[agent] for agent in agents)


def _lacking(before: Index, after: Index, measure: str, agent: str, same: SameQueries, both: Truths) -> int:
    """Queries on which a value is owed in either run and one is not there in both."""
    owed = before.owed(measure)[agent][same.before] | after.owed(measure)[agent][same.after]
    return int((owed & ~both).sum())


def _block(
    measure: Measure,
    gaps: Floats,
    sides: Sequence[Floats],
    clusters: Clusters,
    both: Truths,
    lacking: Sequence[int],
    seed: int,
) -> Iterator[Moved]:
    """Of gaps (agents, queries), known everywhere; their names are put in by the caller."""
    n = int(both.sum())
    if not n:
        for missing in lacking:
            none = Figure(value=None, n=0, n_failed=missing)
            yield Moved(measure, "", none, none, none, None, "too few")
        return
    mine = clusters.only(both)
    width, ones = measure.width, np.ones(n)
    found = estimate(mine.sums(gaps), mine.sizes)
    p = t_p(found, n)
    flips = flips_for_want_of_t(mine.sums(gaps), p, seed)
    between = None if width is None else (-width, width)
    changes = _figures(intervals(gaps, ones, mine, between, difference=True), n, lacking)
    ends = [_figures(intervals(side, ones, mine, measure.limits), n, lacking) for side in sides]
    few = min(n, len(mine.names)) < FEWEST_SECTIONS
    for at, figure in enumerate(changes):
        surely = flips[at] if np.isnan(p[at]) else float(p[at])
        yield Moved(measure, "", ends[0][at], ends[1][at], figure, surely, "too few" if few else "not told apart")


def _figures(found: tuple[Floats, Floats, Floats], n: int, lacking: Sequence[int]) -> list[Figure]:
    rows = zip(*(part.tolist() for part in found), lacking, strict=True)
    return [
        rounded(value, n, missing, *((None, None) if np.isnan(low + high) else (low, high)))
        for value, low, high, missing in rows
    ]


def _apart(before: Index, after: Index, measure: Measure, agents: Sequence[str]) -> Iterator[Moved]:
    """Two groups of queries, those of a section in both runs kept together."""
    for agent in agents:
        sides = [_side(index, measure, agent) for index in (before, after)]
        (one, _, failed), (other, _, missing) = sides
        start, end = (_mean(side, measure) for side in sides)
        if not (len(one) and len(other)):
            nothing = Figure(value=None, n=len(one) + len(other), n_failed=failed + missing)
            yield Moved(measure, agent, start, end, nothing, None, "too few")
            continue
        names = [name for _, known, _ in sides for name in known.names_of]
        rows = Clusters.named([str(place) for place in range(len(names))], names)
        inside = np.arange(len(names)) >= len(one)
        found = group_difference(np.concatenate([one, other])[None], inside, rows, failed + missing)
        few = min(len(set(known.names_of)) for _, known, _ in sides) < FEWEST_SECTIONS
        p = _p(float(found.value[0]), float(found.error[0]), float(found.df[0]))
        yield Moved(measure, agent, start, end, found.figures()[0], p, "too few" if few else "not told apart")


@dataclass(frozen=True)
class _Known:
    """The clusters of the queries that have a value. names_of: each one's cluster by name."""

    clusters: Clusters
    names_of: tuple[str, ...]


def _side(index: Index, measure: Measure, agent: str) -> tuple[Floats, _Known, int]:
    """(values that are known, their clusters, how many are owed and not there)."""
    queries = test_set(index)
    values = index.column(measure.name)[agent][queries.by_id]
    known = ~np.isnan(values)
    clusters = queries.clusters.only(known)
    failed = int((index.owed(measure.name)[agent][queries.by_id] & ~known).sum())
    return values[known], _Known(clusters, tuple(clusters.names[number] for number in clusters.numbers)), failed


def _mean(side: tuple[Floats, _Known, int], measure: Measure) -> Figure:
    values, known, failed = side
    if not len(values):
        return Figure(value=None, n=0, n_failed=failed)
    found = interval(values, np.ones(len(values)), known.clusters, measure.limits)
    return rounded(found[0], len(values), failed, *found[1:])


def _p(value: float, error: float, df: float) -> float | None:
    from scipy.special import stdtr

    return float(2 * stdtr(df, -abs(value) / error)) if error > 0 and df > 0 else None
