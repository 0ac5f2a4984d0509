"""Which figures moved from one run to another, and whether by more than chance.

Where the runs share their queries each difference is the mean of the paired ones, clustered by source section, and
tested as the gate tests it (`statistics.paired`); else it is between two groups of queries. All measures and agents are
corrected together (Holm).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from ragassay.arrays import Floats, Ints, Truths
from ragassay.errors import InputError
from ragassay.evaluate.inputs.clusters import Clusters, clusters_of_rows
from ragassay.evaluate.results import POINTS
from ragassay.evaluate.statistics.clustered import NO_SPREAD, intervals
from ragassay.evaluate.statistics.ladder import FEWEST_SECTIONS
from ragassay.evaluate.statistics.paired import alike, figures, paired
from ragassay.evaluate.statistics.paired_comparison import pair_verdict
from ragassay.evaluate.statistics.resamples import holm
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_json
from ragassay.records import Figure

from .index.read import Index, Measure
from .look import mean_of, test_set


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


@dataclass(frozen=True)
class Change:
    """A query of both runs. before, after: its places; flipped: whether it crossed the middle of the scale."""

    before: int
    after: int
    values: tuple[float, float]
    flipped: bool

    @property
    def by(self) -> float:
        """After less before."""
        return self.values[1] - self.values[0]


@dataclass(frozen=True)
class Changes:
    """rows: those that changed, the largest change first. missing: without a value in one run or both."""

    rows: tuple[Change, ...]
    up: int
    down: int
    level: int
    missing: int
    flipped_up: int
    flipped_down: int


def changes_of(before: Index, after: Index, same: SameQueries, measure: Measure, agent: str) -> Changes:
    """Of an agent on a measure that both runs have; up is better. A value at the middle is on neither side."""
    sign = -1 if measure.lower_is_better else 1
    one = before.column(measure.name)[agent][same.before]
    other = after.column(measure.name)[agent][same.after]
    by, middle = sign * (other - one), (measure.low + measure.high) / 2
    moved = np.abs(by) > NO_SPREAD
    crossed = (one - middle) * (other - middle) < 0
    order = np.argsort(-np.abs(np.where(np.isnan(by), 0.0, by)), kind="stable")
    rows = tuple(
        Change(int(same.before[at]), int(same.after[at]), (float(one[at]), float(other[at])), bool(crossed[at]))
        for at in order
        if moved[at]
    )
    missing = int(np.isnan(by).sum())
    up, down = int((by > NO_SPREAD).sum()), int((by < -NO_SPREAD).sum())
    flipped = [int((crossed & (side * by > 0)).sum()) for side in (1, -1)]
    return Changes(rows, up, down, len(by) - missing - up - down, missing, *flipped)


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
def moved(before: Index, after: Index) -> tuple[Moved, ...]:
    """Every measure and agent that both runs have; points only where the same agents played."""
    theirs = {one.name: one for one in after.measures}
    same, asked = same_queries(before, after), list[tuple[Measure, str]]()
    for measure in before.measures:
        other = theirs.get(measure.name)
        if other is None or (other.low, other.high) != (measure.low, measure.high):
            continue
        if measure.name == POINTS and set(before.agents) != set(after.agents):
            continue
        asked += [(measure, agent) for agent in before.column(measure.name) if agent in after.column(measure.name)]
    if same.paired:
        return tuple(_paired(before, after, asked, same))
    found = [_apart(before, after, measure, agent) for measure, agent in asked]
    adjusted = holm([row.p for row in found])
    told = []
    for row, p in zip(found, adjusted, strict=True):
        verdict = pair_verdict(row.difference.value, p, lower_is_better=row.measure.lower_is_better)
        if row.said != "too few" and (verdict == "better" or verdict == "worse"):
            row = replace(row, said=verdict)
        told.append(row)
    return tuple(told)


def _paired(before: Index, after: Index, asked: Sequence[tuple[Measure, str]], same: SameQueries) -> Iterator[Moved]:
    """Of each measure and agent."""
    if not asked:
        return
    one, other = (
        np.array([index.column(measure.name)[agent][places] for measure, agent in asked])
        for index, places in ((before, same.before), (after, same.after))
    )
    both = ~np.isnan(one) & ~np.isnan(other)

    def asked_in_both(agent: str) -> Truths:
        sides = ((before, same.before), (after, same.after))
        rows = [index.asked[agent][places] for index, places in sides if index.asked]
        return np.array(np.logical_and.reduce(rows) if rows else np.ones(both.shape[1]), dtype=bool)

    owed = (
        before.owed(measure.name)[agent][same.before] | after.owed(measure.name)[agent][same.after]
        for measure, agent in asked
    )
    there = [asked_in_both(agent) for _, agent in asked]
    lacking = [int((row & ~known & where).sum()) for row, known, where in zip(owed, both, there, strict=True)]
    widths = [measure.width for measure, _ in asked]
    tested = paired(other - one, same.clusters, widths, lacking)
    starts, ends = (_means(side, both, asked, same.clusters, lacking) for side in (one, other))
    for at, ((measure, agent), row) in enumerate(zip(asked, tested, strict=True)):
        ahead: dict[str, Said] = {"more": "better", "less": "worse"}
        if measure.lower_is_better:
            ahead = {"more": "worse", "less": "better"}
        said: Said = ahead.get(row.told, "too few" if row.told == "too few" else "not told apart")
        yield Moved(measure, agent, starts[at], ends[at], row.difference, row.p, said)


def _means(
    values: Floats, both: Truths, asked: Sequence[tuple[Measure, str]], clusters: Clusters, lacking: Sequence[int]
) -> dict[int, Figure]:
    """Row of values (rows, queries) to its mean over the queries with values in both runs; rows alike side by side."""
    found: dict[int, Figure] = {}
    for places, known in alike(both):
        mine, n = clusters.only(known), int(known.sum())
        for limits in dict.fromkeys(asked[place][0].limits for place in places):
            some = [place for place in places if asked[place][0].limits == limits]
            given = [lacking[place] for place in some]
            if not n:
                found |= {place: Figure(value=None, n=0, n_failed=lacking[place]) for place in some}
                continue
            rows = figures(intervals(values[some][:, known], np.ones(n), mine, limits), n, given)
            found |= zip(some, rows, strict=True)
    return found


def _apart(before: Index, after: Index, measure: Measure, agent: str) -> Moved:
    """Two groups of queries, those of a section in both runs kept together."""
    from scipy.special import stdtr

    from ragassay.evaluate.validity.questions import group_difference

    means, values, names, n_failed = list[Figure](), list[Floats](), list[list[str]](), 0
    for index in (before, after):
        queries = test_set(index)
        column, owed = index.column(measure.name)[agent][queries.by_id], index.owed(measure.name)[agent][queries.by_id]
        known = ~np.isnan(column)
        means.append(mean_of(column, owed, queries.clusters, measure.limits))
        values.append(column[known])
        names.append([queries.clusters.names[number] for number in queries.clusters.numbers[known]])
        n_failed += means[-1].n_failed
    start, end = means
    if not (start.n and end.n):
        nothing = Figure(value=None, n=start.n + end.n, n_failed=n_failed)
        return Moved(measure, agent, start, end, nothing, None, "too few")
    rows = clusters_of_rows([*names[0], *names[1]])
    found = group_difference(np.concatenate(values)[None], np.arange(start.n + end.n) >= start.n, rows, n_failed)
    value, error, df = (float(part[0]) for part in (found.value, found.error, found.df))
    p = float(2 * stdtr(df, -abs(value) / error)) if error > 0 and df > 0 else None
    few = min(len(set(some)) for some in names) < FEWEST_SECTIONS
    return Moved(measure, agent, start, end, found.figures()[0], p, "too few" if few else "not told apart")


LONGEST = 160
"""Characters of a value that are shown."""

NAMED = 6
"""Things of one kind that are named; of the others is said how many they are."""

JUDGED_BY = ("judge.", "evaluate.", "prompts.judge/", "prompts.evaluate/", "judge_model", "judge_mode")
"""How the names of what decides a judge's labels begin."""


@dataclass(frozen=True)
class Differs:
    """A setting that two runs do not share. name: `table.setting`, of a document `documents.NAME`, of a prompt
    `prompts.STAGE/NAME`; said: what it is in the second, and was in the first. Untrusted text."""

    name: str
    said: tuple[str, ...]


def changed(before: Workspace, after: Workspace) -> list[Differs]:
    """Of two runs, from the manifests of their stages, or from `results.json` where either has none.

    Documents and prompts are among them, each with its digest, so that changed ones are seen.
    """
    recorded = [_settings(one) for one in (before, after)]
    if not all(recorded):
        recorded = [dict(_part(_table(one.figures), "settings")) for one in (before, after)]
    return differing(*recorded)


def _settings(workspace: Workspace) -> dict[str, Any]:
    """Setting to value. Where stages ran with several values of one, they are one text."""
    found: dict[str, list[Any]] = {}
    for path in sorted(workspace.results.glob("manifests/*.json")):
        stage, manifest = path.stem, _table(path)
        recorded = [*_part(manifest, "settings").items()]
        for name, digest in _part(manifest, "inputs").items():
            if stage == "ingest":
                recorded.append((f"documents.{name}", digest))
            elif name.endswith(".md"):
                recorded.append((f"prompts.{stage}/{name}", digest))
        for name, value in recorded:
            if value not in (values := found.setdefault(name, [])):
                values.append(value)
    return {name: row[0] if len(row) == 1 else " / ".join(map(_words, row)) for name, row in found.items()}


def differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Differs]:
    """The settings that are not the same in both, by name, each with what it is and was."""
    rows, tables = [], [{_table_of(name) for name in side} for side in (before, after)]
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name), after.get(name)
        if was == now or not (was or now or (name in before and name in after)):
            continue  # what is recorded of one alone, and empty there, says nothing
        table, setting = _table_of(name), name.partition(".")[2] or name
        alone = [words for side, words in zip(tables, ("other", "first"), strict=True) if table not in side]
        if table and alone:
            said = [f"only the {alone[0]} run has any"]
        elif table in ("documents", "prompts"):
            said = [f"{setting} {'is gone' if now is None else 'is new' if was is None else 'has changed'}"]
        else:
            said = _differs(setting.replace("_", " "), was, now)
        rows.append(Differs(name, tuple(said)))
    return rows


def by_table(rows: Sequence[Differs]) -> list[tuple[str, list[str]]]:
    """Table of the experiment, or '', to what is said of its settings."""
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        found.setdefault(_table_of(row.name), {}).update(dict.fromkeys(row.said))
    named = ("documents", "prompts")
    return [(table, [_some(list(said))] if table in named else list(said)) for table, said in found.items()]


def _table_of(name: str) -> str:
    return name.partition(".")[0] if "." in name else ""


def judged_otherwise(rows: Sequence[Differs]) -> bool:
    """Whether figures may have moved because something else, or otherwise, judged."""
    return any(row.name.startswith(JUDGED_BY) for row in rows)


def _differs(name: str, was: Any, now: Any) -> list[str]:
    """`embedding: all-MiniLM-L6-v2, was bge-small`, `criteria: 1 more (depth)`; of a table each of its keys."""
    if isinstance(was, dict) and isinstance(now, dict):
        keys = (key for key in (*was, *(key for key in now if key not in was)) if was.get(key) != now.get(key))
        return [one for key in keys for one in _differs(f"{name} {key}".strip(), was.get(key), now.get(key))]
    if isinstance(was, list) and isinstance(now, list):
        old, new = ({_name(one): one for one in side} for side in (was, now))
        more, fewer = ([key for key in one if key not in other] for one, other in ((new, old), (old, new)))
        counted = [f"{len(keys)} {what} ({_some(keys)})" for keys, what in ((more, "more"), (fewer, "fewer")) if keys]
        said = [f"{name}: {', '.join(counted)}"] if counted else []
        kept = [(f"{name} {key}", old[key], new[key]) for key in old if key in new and old[key] != new[key]]
        said += [one for given in kept for one in _differs(*given)]
        return said or [f"{name}: in another order ({_some(list(new))})"]
    return [f"{name}: {_words(now)}, was {_words(was)}"]


def _name(item: Any) -> str:
    """What an item of a list is called."""
    return _words(item["name"] if isinstance(item, dict) and isinstance(item.get("name"), str) else item)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _table(path: Any) -> Mapping[str, Any]:
    """Nothing where the file cannot be read: a stage may be writing."""
    try:
        found = read_json(path)
    except InputError:
        return {}
    return found if isinstance(found, dict) else {}


def _part(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = table.get(name)
    return part if isinstance(part, dict) else {}


def _words(value: Any) -> str:
    if value is None or value in ([], {}, ""):
        return "not set" if value is None else "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        text = ", ".join(value)
    if isinstance(value, dict):
        text = ", ".join(f"{key} {_words(one)}" for key, one in value.items())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
