"""The agents on one measure and some queries: each one's mean, and the baseline less each other.

The means and the differences are those of `compare`: clustered by source section, every pair of agents corrected
together by Holm, on points from the leader, so that on all queries they are the report's own. On a slice, games that
failed are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlencode

import numpy as np

from ragassay.arrays import Floats, Ints, Truths
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.results import POINTS, Comparison
from ragassay.evaluate.statistics.clustered import NO_SPREAD, Range, interval
from ragassay.evaluate.statistics.ladder import FEWEST_SECTIONS, holm_from_leader
from ragassay.evaluate.statistics.paired_comparison import FromLeader, ValueTable, compare_pairs
from ragassay.evaluate.statistics.resamples import rounded
from ragassay.records import Figure
from ragassay.text import one_line

from .asked import MOST, written
from .index.read import COLUMNS, FACETS, Index, Measure

THIRDS = ("short", "middle", "long")
"""Of the questions by their words, a third each as far as like lengths allow."""


@dataclass(frozen=True, eq=False)
class TestSet:
    """Columns by place in the test set. clusters: of all queries, in the order of `by_id`, which sorts the ids."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    facets: dict[str, tuple[str, ...]]
    words: Floats
    by_id: Ints
    clusters: Clusters

    __test__ = False

    def limits(self) -> tuple[float, float]:
        """Up to how many words a question is short, and middle."""
        if not len(self.words):
            return (0.0, 0.0)
        low, high = np.quantile(self.words, [1 / 3, 2 / 3], method="lower")
        return (float(low), float(high))


@lru_cache(maxsize=8)
def test_set(index: Index) -> TestSet:
    """The columns of an index."""
    facets_of = ", ".join(f"{sql} AS {name}_" for name, sql in COLUMNS.items())
    rows = index.rows(f"SELECT id, text, {facets_of}, words, cluster FROM queries ORDER BY place")  # noqa: S608
    ids = tuple(row["id"] for row in rows)
    by_id = np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.intp)
    facets = {name: tuple(row[f"{name}_"] for row in rows) for name in FACETS}
    words = np.array([row["words"] for row in rows], dtype=np.float64)
    clusters = Clusters.named([ids[place] for place in by_id], [rows[place]["cluster"] for place in by_id])
    return TestSet(ids, tuple(row["text"] for row in rows), facets, words, by_id, clusters)


test_set.__test__ = False  # type: ignore[attr-defined]


SLICED = tuple(name for name in FACETS if name != "conversation")
"""A conversation is one cluster, of which nothing is told."""

NAMES = {
    "source": "real or written",
    "doc": "document",
    "model": "question model",
    "kind": "kind",
    "role": "role",
    "conversation": "conversation",
    "move": "move",
}


def facet_said(name: str, value: str) -> str:
    """`document manual.pdf`; `real`."""
    return value if name == "source" else f"{NAMES[name]} {one_line(value)}"


@dataclass(frozen=True)
class Slice:
    """facets: (column, value). third: one of `THIRDS`, or "". cause: of some agent's failed answer, or ""."""

    facets: tuple[tuple[str, str], ...] = ()
    third: str = ""
    cause: str = ""

    @classmethod
    def asked(cls, params: Mapping[str, str], index: Index, queries: TestSet) -> Slice:
        """From an address; a value that no query has is passed over."""
        facets = tuple((n, params[n]) for n in SLICED if params.get(n) and params[n] in set(queries.facets[n]))
        third, cause = params.get("length", ""), params.get("cause", "")
        return cls(facets, third if third in THIRDS else "", cause if cause in index.causes else "")

    @property
    def whole(self) -> bool:
        """Whether it is the whole test set."""
        return not (self.facets or self.third or self.cause)

    def params(self) -> dict[str, str]:
        """As they stand in an address."""
        return dict(self.facets) | {k: v for k, v in (("length", self.third), ("cause", self.cause)) if v}

    def mask(self, index: Index, queries: TestSet) -> Truths:
        """(queries,): which are in it, by place."""
        found = np.ones(len(queries.ids), dtype=bool)
        for name, value in self.facets:
            found &= np.array([one == value for one in queries.facets[name]], dtype=bool)
        if self.third:
            low, high = queries.limits()
            ends = {"short": (0.0, low), "middle": (low, high), "long": (high, np.inf)}[self.third]
            found &= (queries.words > ends[0]) & (queries.words <= ends[1])
        if self.cause:
            failed = np.zeros(len(found), dtype=bool)
            failed[index.causes[self.cause]] = True
            found &= failed
        return found

    def said(self) -> str:
        """In words: `real, document manual.pdf, short questions`; `all queries`."""
        parts = [facet_said(name, value) for name, value in self.facets]
        parts += [f"{self.third} questions"] if self.third else []
        parts += [f"some agent failed of {one_line(self.cause)}"] if self.cause else []
        return ", ".join(parts) or "all queries"

    def address(self, bench: str, places: Sequence[int]) -> str:
        """Of the list of its queries; of a part that only places tell, the first `MOST`."""
        if self.third or self.cause:
            return listing(bench, places)
        return f"/{bench}/queries" + (f"?{urlencode(dict(self.facets))}" if self.facets else "")


def listing(bench: str, places: Sequence[int]) -> str:
    """The address of a list of queries, by their places."""
    return f"/{bench}/queries?{urlencode({'places': written(places[:MOST])}, safe=',')}"


@dataclass(frozen=True)
class Choice:
    """A menu of the form: its name in the address, what it is called, and (value, words) of each entry."""

    name: str
    title: str
    entries: tuple[tuple[str, str], ...]


def choices(index: Index, queries: TestSet) -> list[Choice]:
    """The menus that have something to choose from."""
    made = []
    for name in SLICED:
        if len(values := index.facets[name]) > 1:
            entries = tuple((value, f"{one_line(value)} ({n:,})") for value, n in values if value)
            made.append(Choice(name, NAMES[name], entries))
    low, high = queries.limits()
    if low < high < queries.words.max(initial=0.0):
        words = (f"short: to {low:g} words", f"middle: to {high:g} words", "long: more")
        made.append(Choice("length", "length", tuple(zip(THIRDS, words, strict=True))))
    causes = [(cause, f"{one_line(cause)} ({len(places):,})") for cause, places in index.causes.items()]
    return [*made, Choice("cause", "root cause", tuple(causes))] if causes else made


NAMED = 200
"""Queries that a count of won or lost ones leads to, those that differ most."""


@dataclass(frozen=True)
class Against:
    """The baseline less `agent`. verdict: of the baseline, in the report's words; "" where these queries are too few.

    won, level, lost: how many queries, by the baseline; won_at, lost_at: places of the `NAMED` that differ most.
    """

    agent: str
    difference: Figure
    verdict: str
    sentence: str
    won: int
    level: int
    lost: int
    won_at: tuple[int, ...]
    lost_at: tuple[int, ...]


@dataclass(frozen=True)
class Look:
    """n: queries of the slice; n_sections: of how many sections they are. means: agent to figure, best first.

    places: the slice's, in the test set's order. n_pairs: of agents, those that were tested and corrected together.
    few: whether the queries are too few to be sure of anything.
    """

    measure: Measure
    baseline: str
    n: int
    n_sections: int
    places: tuple[int, ...]
    means: dict[str, Figure]
    against: tuple[Against, ...]
    n_pairs: int

    @property
    def few(self) -> bool:
        """As for the report's leader."""
        return min(self.n, self.n_sections) < FEWEST_SECTIONS


@dataclass(frozen=True)
class Wanted:
    """What is looked at. order: the agents, best first. matters: measure to the smallest difference that matters.

    told: the report's comparisons on points, where all queries are looked at: they know what failed.
    """

    measure: str
    baseline: str
    slice: Slice
    order: tuple[str, ...]
    seed: int
    matters: float | None = None
    told: tuple[Comparison, ...] = ()


@lru_cache(maxsize=64)
def look(index: Index, wanted: Wanted) -> Look:
    """Raises KeyError for a measure or a baseline that there is not."""
    queries = test_set(index)
    measure = index.measure(wanted.measure)
    if measure is None:
        raise KeyError(wanted.measure)
    mask = wanted.slice.mask(index, queries)
    rows = _rows(index, queries, mask, wanted)
    clusters = queries.clusters.where(mask[queries.by_id])
    first = from_leader(rows.table, clusters, wanted.seed) if measure.name == POINTS and not wanted.told else None
    asked = (rows.table, clusters, measure.width, wanted.seed, wanted.matters)
    pairs = wanted.told or compare_pairs(measure.name, *asked, beside=False, leader=first)
    means = _means(rows, queries, measure)
    n_sections = len(np.unique(clusters.numbers))
    few = min(len(rows.at), n_sections) < FEWEST_SECTIONS
    against = [
        _against(wanted.baseline, other, pairs, rows, measure.lower_is_better, silent=few or bool(wanted.slice.cause))
        for other in rows.table.agents
        if other != wanted.baseline
    ]
    places, n_pairs = tuple(np.flatnonzero(mask).tolist()), sum(pair.p_holm is not None for pair in pairs)
    return Look(measure, wanted.baseline, len(places), n_sections, places, means, tuple(against), n_pairs)


def means_on(index: Index, measure: str, chosen: Slice, order: Sequence[str]) -> dict[str, Figure]:
    """Agent to its mean, as of a look; empty where nobody has the measure."""
    found = index.measure(measure)
    agents = [agent for agent in order if found is not None and agent in index.column(measure)]
    if found is None or not agents:
        return {}
    queries = test_set(index)
    rows = _rows(index, queries, chosen.mask(index, queries), Wanted(measure, agents[0], chosen, tuple(agents), 0))
    return _means(rows, queries, found)


def _means(rows: _Rows, queries: TestSet, measure: Measure) -> dict[str, Figure]:
    table, clusters = rows.table, queries.clusters.where(rows.chosen)
    sides = zip(table.agents, table.known, table.owed, strict=True)
    return {agent: mean_of(values, owed, clusters, measure.limits) for agent, values, owed in sides}


def mean_of(values: Floats, owed: Truths, clusters: Clusters, limits: Range | None) -> Figure:
    """The mean of values ([agents,] queries), as `Resamples` makes it: a query counts as often as it has values.

    NaN is none, which has failed where one is owed. clusters: of the queries.
    """
    known = ~np.isnan(values)
    n, n_failed = int(known.sum()), int((owed & ~known).sum())
    if not n:
        return Figure(value=None, n=0, n_failed=n_failed)
    sums, counts = (
        np.atleast_2d(each).sum(axis=0) for each in (np.where(known, values, 0.0), known.astype(np.float64))
    )
    value, low, high = interval(sums, counts, clusters, limits)
    return rounded(value, n, n_failed, low, high)


def from_leader(values: ValueTable, clusters: Clusters, seed: int) -> FromLeader | None:
    """The ladder on the points of these queries, whoever leads on them; None where fewer than two have any."""
    means = {at: float(np.nanmean(row)) for at, row in enumerate(values.known) if not np.isnan(row).all()}
    order = sorted(means, key=lambda at: (-round(means[at], 9), values.agents[at]))
    if len(order) < 2:
        return None
    asked = None if values.asked is None else values.asked[order]
    found = holm_from_leader(values.known[order], clusters, seed, asked=asked)
    names, ends = [values.agents[at] for at in order], zip(found.difference, found.low, found.high, strict=True)
    figures = [
        rounded(value, n, failed, None if np.isnan(low) else low, None if np.isnan(high) else high)
        for (value, low, high), n, failed in zip(ends, found.n, found.n_failed, strict=True)
    ]
    adjusted = dict(zip(names[1:], found.adjusted.tolist(), strict=True))
    return FromLeader(names[0], dict(zip(names[1:], figures, strict=True)), adjusted)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The values of the slice, by id; at: the place of each."""

    table: ValueTable
    at: Ints
    chosen: Truths


def _rows(index: Index, queries: TestSet, mask: Truths, wanted: Wanted) -> _Rows:
    columns, owed = index.column(wanted.measure), index.owed(wanted.measure)
    agents = tuple(agent for agent in wanted.order if agent in columns)
    if wanted.baseline not in agents:
        raise KeyError(wanted.baseline)
    chosen = mask[queries.by_id]
    at = queries.by_id[chosen]
    ids = [queries.ids[place] for place in at]
    known = np.array([columns[agent][at] for agent in agents])
    asked = np.array([index.asked[agent][at] for agent in agents]) if index.asked else None
    return _Rows(ValueTable(agents, ids, known, np.array([owed[agent][at] for agent in agents]), asked), at, chosen)


def _against(
    baseline: str, other: str, pairs: Sequence[Comparison], rows: _Rows, lower_is_better: bool, *, silent: bool
) -> Against:
    """silent: whether these queries may not decide, so that no verdict is given."""
    row = next(one for one in pairs if {one.agent_a, one.agent_b} == {baseline, other})
    turned = row.agent_a == other
    verdict = str(row.verdict)
    if turned != lower_is_better:
        verdict = {"better": "worse", "worse": "better"}.get(verdict, verdict)
    values: Mapping[str, Floats] = dict(zip(rows.table.agents, rows.table.known, strict=True))
    gaps = (values[baseline] - values[other]) * (-1 if lower_is_better else 1)
    ahead, behind = gaps > NO_SPREAD, gaps < -NO_SPREAD
    order = np.argsort(gaps, kind="stable")
    lost_at = [int(rows.at[i]) for i in order if behind[i]][:NAMED]
    won_at = [int(rows.at[i]) for i in order[::-1] if ahead[i]][:NAMED]
    level = int((~np.isnan(gaps)).sum() - ahead.sum() - behind.sum())
    said = "" if silent else row.sentence
    counts = (int(ahead.sum()), level, int(behind.sum()))
    difference = row.difference.turned() if turned else row.difference
    return Against(other, difference, "" if silent else verdict, said, *counts, tuple(won_at), tuple(lost_at))
