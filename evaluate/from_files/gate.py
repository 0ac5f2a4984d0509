"""Is a new run worse than a baseline? For use in CI, on two results folders over the same queries.

Every agent and measure has a row with a verdict of its own, from the values by query that `compare` left
(`values.jsonl`). The run is worse if any row is, else undecided if any is, else not worse.

A drop is baseline - new, or new - baseline where little is good. Its test and its interval are those of
`statistics.paired`, which the workbench's Compare has too. Asked in this order, a row is

    worse       where the drop exceeds `max_drop` (0 where none was given) beyond noise: at 5% for a change either way,
                Holm-corrected over agents and measures, and from at least six sections;
    not worse   else, where the 95% interval of the drop ends at or below what is tolerated, also if every query on
                which only the new run failed had the worst value there is; or no query's value changed at all;
    undecided   else.

Tolerated is `max_drop`, in the measure's own unit. Where none was given it is `TOLERATED` of the measure's range, or of
the baseline's mean where there is no end, and no row is not worse then whose whole interval is a drop.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf, isfinite
from pathlib import Path
from typing import Literal

import numpy as np

from ragassay.arrays import Floats
from ragassay.errors import InputError
from ragassay.experiment.workspace import read_not_asked
from ragassay.files import read_records
from ragassay.records import Figure, Query, left_out, perturbed_from
from ragassay.text import did_you_mean, one_line, plain

from ..figures.values import Scale, StoredValues, read_values, scale_of
from ..inputs.clusters import Clusters
from ..report.page import read_results
from ..report.wording import MISSING, measure_name, overstated
from ..results import POINTS, Results
from ..statistics.clustered import NO_SPREAD, Values
from ..statistics.paired import PairedRow, paired
from ..statistics.paired_comparison import LEVEL
from ..statistics.power import MOST, detectable, needed_units

GateVerdict = Literal["not worse", "worse", "undecided"]
EXIT_STATUS: dict[GateVerdict, int] = {"not worse": 0, "worse": 1, "undecided": 3}

TOLERATED = 0.02
"""Of a measure's range: a drop that most would call small."""


@dataclass(frozen=True)
class Matched:
    """An agent on a measure in both runs: the baseline's values and the new run's."""

    agent: str
    measure: str
    before: Values
    after: Values
    scale: Scale

    @property
    def tolerated(self) -> float:
        """What is tolerated unasked, in the measure's unit."""
        if self.scale.width is not None:
            return TOLERATED * self.scale.width
        known = [value for value in self.before.values() if value is not None]
        return TOLERATED * (abs(sum(known) / len(known)) or 1.0) if known else TOLERATED


@dataclass(frozen=True)
class Gated:
    """One agent on one measure. drop: by how much it got worse over the queries both have; n_failed: lacking ones.

    max_drop: what is tolerated. passes: the smallest drop that, tolerated, a run without any change and with this
    scatter passes in four cases of five, and needed: the queries with which it so passes `max_drop`, each on this row
    alone; shows: the smallest true drop that is called worse in four of five. Drops are in the measure's own unit, of
    which `scale` are the ends and the direction. unchanged: no query's value differs. p: two-sided, that the change is
    no more than what was to be tolerated, Holm-corrected. None: not defined.
    lacking_new, lacking_baseline: the ids on which a run has no value.
    """

    agent: str
    measure: str
    scale: Scale
    baseline: float | None
    new: float | None
    drop: Figure
    max_drop: float
    passes: float | None
    needed: int | None
    shows: float | None
    unchanged: bool
    p: float | None
    verdict: GateVerdict
    lacking_new: tuple[str, ...]
    lacking_baseline: tuple[str, ...]


@dataclass(frozen=True)
class Gate:
    """The verdict on a run, its rows, and the agents that only one of the runs has.

    max_drop: what was to be tolerated, in each measure's own unit; None where that was not said. n_perturbed: queries
    left out since they are others in changed words. early: of each run that stopped early, what is overstated in it.
    """

    verdict: GateVerdict
    rows: tuple[Gated, ...]
    n_queries: int
    max_drop: float | None
    only_new: tuple[str, ...]
    only_baseline: tuple[str, ...]
    n_perturbed: int = 0
    early: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """A results folder as `compare` left it. scales: of every measure that has values by query. not_asked: as of
    `read_not_asked`."""

    folder: Path
    results: Results
    stored: StoredValues
    scales: Mapping[str, Scale]
    not_asked: frozenset[tuple[str, str]] = frozenset()

    @property
    def usual(self) -> list[str]:
        """What is compared unless something else is asked for: MRR of very relevant passages, and every criterion."""
        criteria = {name for row in self.results.pointwise.values() for name in row}
        return [name for name in self.scales if name.startswith("RR(rel=2)") or name in criteria]


def read_run(folder: Path) -> Run:
    """Raises InputError where `results.json` or `values.jsonl` is missing or not as `compare` writes it."""
    results, stored = read_results(folder / "results.json"), read_values(folder / "values.jsonl")
    scales = {name: scale_of(name, results) for name in stored.measures}
    return Run(folder, results, stored, scales, read_not_asked(folder / "not-asked.jsonl"))


def gate(
    new: Path,
    baseline: Path,
    *,
    measures: Sequence[str] = (),
    agents: Sequence[str] = (),
    max_drop: float | None = None,
) -> Gate:
    """Compare two results folders, for each of `agents` (all that both have) on each of `measures`.

    measures: as results.json spells them, evaluators' among them; by default MRR of very relevant passages and every
    criterion of [judge] that both have. Points are compared only where the same agents played.
    max_drop: what is tolerated, in the measure's own unit: 0.02 is 0.02 of MRR, and 0.02 of a label from 0 to 2. None:
    2% of each measure's range, or of the baseline's mean where it has no end.
    Raises InputError for a folder that cannot be read, other queries, and agents or measures that not both have.
    """
    if max_drop is not None and not 0 <= max_drop < inf:
        raise InputError(f"--max-drop is {max_drop:g}", remedy="it is in the measure's own unit, from 0 up")
    queries = _same_queries(new, baseline)
    after, before = read_run(new), read_run(baseline)
    named = _agents(after, before, agents)
    asked = _measures(after, before, measures)
    for measure in asked:
        width = before.scales[measure].width
        if max_drop is not None and width is not None and max_drop >= width:
            said = f"--max-drop is {max_drop:g}, and {plain(measure)} is {before.scales[measure]}"
            raise InputError(said, remedy="it is in the measure's own unit: 0.02 is 0.02 of MRR")
    out = before.not_asked | after.not_asked

    def of_both(agent: str, values: Values) -> Values:
        """On the queries that both runs asked it."""
        return {query: value for query, value in values.items() if (query, agent) not in out} if out else values

    known = [
        Matched(agent, measure, of_both(agent, row), of_both(agent, other), before.scales[measure])
        for agent in named
        for measure in asked
        if (row := before.stored.measures[measure].get(agent)) is not None
        and (other := after.stored.measures[measure].get(agent)) is not None
    ]
    if not known:
        raise InputError("no agent that was asked for has any of the measures in both runs", file=new)
    n_perturbed = sum(perturbed_from(query) is not None for query in queries)
    clusters = before.stored.clusters.of(sorted(query.id for query in queries))
    rows = gate_rows(known, clusters, max_drop)
    return Gate(
        verdict=verdict_of(rows),
        rows=rows,
        n_queries=len(queries) - n_perturbed,
        max_drop=max_drop,
        only_new=tuple(sorted(set(after.results.agents) - set(before.results.agents))),
        only_baseline=tuple(sorted(set(before.results.agents) - set(after.results.agents))),
        n_perturbed=n_perturbed,
        early=tuple(
            f"Of the {name} run: {said[:1].lower()}{said[1:]}"
            for name, run in (("new", after), ("baseline", before))
            if (said := overstated(run.results))
        ),
    )


def _same_queries(new: Path, baseline: Path) -> list[Query]:
    """Raises InputError where the runs do not have the same queries, ids and texts, in whatever order."""
    for folder in (new, baseline):
        if not folder.is_dir():
            remedy = "name a folder that `ragassay run` has written"
            raise InputError("is not a results folder", file=folder, remedy=remedy)
    queries = [read_records(run / "queries.jsonl", Query) for run in (new, baseline)]
    ours, theirs = ({query.id: query.text for query in rows} for rows in queries)
    remedy = "a gate compares runs over the same queries"
    for here, there, folder in ((ours, theirs, baseline), (theirs, ours, new)):
        if missing := sorted(here.keys() - there.keys()):
            said = f"lacks {len(missing)} of the other run's {len(here)} queries ({_some(missing)})"
            raise InputError(said, file=folder / "queries.jsonl", remedy=remedy)
    if changed := sorted(query for query in ours if ours[query] != theirs[query]):
        said = f"{len(changed)} queries have another text than in {plain(str(baseline))} ({_some(changed)})"
        raise InputError(said, file=new / "queries.jsonl", remedy=remedy)
    return queries[1]


def _agents(after: Run, before: Run, asked: Sequence[str]) -> list[str]:
    both = [agent for agent in sorted(before.results.agents) if agent in after.results.agents]
    if strange := [agent for agent in asked if agent not in both]:
        remedy = f"{did_you_mean(strange[0], both)}both have {_some(both)}"
        raise InputError(f"'{plain(strange[0])}' is not an agent of both runs", remedy=remedy)
    if not both:
        raise InputError("has no agent that the new run has too", file=before.folder)
    return sorted(set(asked)) or both


def _measures(after: Run, before: Run, asked: Sequence[str]) -> list[str]:
    both = [measure for measure in before.scales if measure in after.scales]
    for measure in asked:
        if measure not in both:
            lacking = [run.folder for run in (after, before) if measure not in run.scales]
            where = f": {plain(str(lacking[0]))} has none of it" if len(lacking) == 1 else ""
            remedy = f"{did_you_mean(measure, both)}both have {_some(both, 12)}"
            raise InputError(f"'{plain(measure)}' is not a measure of both runs{where}", remedy=remedy)
    chosen = list(dict.fromkeys(asked)) or [measure for measure in before.usual if measure in after.usual]
    if not chosen:
        raise InputError("has no measure that the new run has too", file=before.folder)
    for measure in chosen:
        if before.scales[measure] != after.scales[measure]:
            said = f"'{plain(measure)}' is {before.scales[measure]} in the baseline and {after.scales[measure]} here"
            raise InputError(said, file=after.folder, remedy="judge both runs by the same scale")
    if POINTS in chosen and set(before.results.agents) != set(after.results.agents):
        said = f"{POINTS} are of games against the other agents, which are others than in the baseline"
        raise InputError(said, file=after.folder, remedy="compare points of runs with the same agents")
    return chosen


def _some(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return plain(", ".join(names[:most]) + more) or "none"


def failures(rows: Sequence[Gated]) -> Mapping[str, tuple[str, ...]]:
    """`new`, `baseline`: the queries on which a run has no value for some row, sorted."""
    return {
        "new": tuple(sorted({query for row in rows for query in row.lacking_new})),
        "baseline": tuple(sorted({query for row in rows for query in row.lacking_baseline})),
    }


def gate_rows(matched: Sequence[Matched], clusters: Clusters, max_drop: float | None) -> tuple[Gated, ...]:
    """The row of each. clusters: of all queries. max_drop: tolerated, in each measure's own unit."""
    before, after = (
        np.array([list(map(values.get, clusters.queries)) for values in side], dtype=np.float64)
        for side in ([one.before for one in matched], [one.after for one in matched])
    )
    lacking = [(_ids_lacking(one.after, one.before), _ids_lacking(one.before, one.after)) for one in matched]
    up = np.array([1.0 if one.scale.lower_is_better else -1.0 for one in matched])
    drops = up[:, None] * (after - before)
    found = paired(
        drops,
        clusters,
        [one.scale.width for one in matched],
        [len({*new, *old}) for new, old in lacking],
        beyond=[max_drop or 0.0] * len(matched),
    )
    rows = []
    for at, (one, row, (new, old)) in enumerate(zip(matched, found, lacking, strict=True)):
        both = ~np.isnan(drops[at])
        unchanged = bool(both.any()) and float(np.abs(drops[at][both]).max()) < NO_SPREAD
        tolerated = one.tolerated if max_drop is None else max_drop
        shown = _detectable(row, LEVEL / len(matched))
        rows.append(
            Gated(
                agent=one.agent,
                measure=one.measure,
                scale=one.scale,
                baseline=_mean(before[at][both]),
                new=_mean(after[at][both]),
                drop=row.difference,
                max_drop=tolerated,
                passes=_detectable(row, LEVEL),
                needed=_queries_needed(row, tolerated),
                shows=None if shown is None else (max_drop or 0.0) + shown,
                unchanged=unchanged,
                p=row.adjusted,
                verdict=_verdict(one, row, new, tolerated, unchanged=unchanged, named=max_drop is not None),
                lacking_new=new,
                lacking_baseline=old,
            )
        )
    return tuple(rows)


def verdict_of(rows: Sequence[Gated]) -> GateVerdict:
    """Of a whole run: worse if any row is, else undecided if any is, else not worse."""
    found = {row.verdict for row in rows}
    return "worse" if "worse" in found else "undecided" if "undecided" in found else "not worse"


def _verdict(
    one: Matched, row: PairedRow, lacking: Sequence[str], tolerated: float, *, unchanged: bool, named: bool
) -> GateVerdict:
    drop = row.difference
    if row.told == "more":
        return "worse"
    high = 0.0 if unchanged else drop.ci_high
    if drop.value is None or high is None or (not named and drop.ci_low is not None and drop.ci_low > 0):
        return "undecided"
    # The worst that the failures of the new run can hide: the worst value on each.
    lost = [abs(value - one.scale.worst) for query in lacking if (value := one.before.get(query)) is not None]
    passes = (drop.n * high + sum(lost)) / (drop.n + len(lost)) <= tolerated + 1e-9
    return "not worse" if passes else "undecided"


def _ids_lacking(values: Values, other: Values) -> tuple[str, ...]:
    """The ids, sorted, on which there is no value, of those that either side owes one."""
    return tuple(sorted(query for query in values.keys() | other.keys() if values.get(query) is None))


def _detectable(row: PairedRow, level: float) -> float | None:
    return detectable(row.error, row.df, level) if row.error >= NO_SPREAD else None


def _queries_needed(row: PairedRow, tolerated: float) -> int | None:
    """Of a run without any change: its interval ends below what is tolerated as often as a test tells that from 0."""
    if not row.error >= NO_SPREAD:
        return None
    units = needed_units(np.array(tolerated / (row.error * np.sqrt(row.n_sections))), LEVEL)
    queries = float(units) * row.difference.n / row.n_sections
    return ceil(queries - 1e-6) if isfinite(queries) and queries <= MOST else None


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None


_HEADINGS = {
    "not worse": "Not worse than the baseline",
    "worse": "Worse than the baseline",
    "undecided": "Undecided against the baseline",
}
_LEGEND = (
    "Could pass: the smallest drop that, tolerated, a run without any change passes in 4 of 5 cases on that row alone. "
    "Would show: the smallest true drop that is called worse in 4 of 5."
)
_SHOWN = 20
_MARKUP = re.compile(r"([\\`*_{}\[\]<>|#~&!]|(?<!\w)@)")


def markdown(gate: Gate) -> str:
    """A heading with the verdict, what it means, a row an agent and measure, and what is lacking."""
    lines = [
        f"## ragassay gate: {_HEADINGS[gate.verdict]}",
        "",
        _meaning(gate),
        "",
        "| agent | measure | baseline | new | change [95%] | tolerated | could pass | would show | n | verdict |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|---|",
        *(_row(row) for row in sorted(gate.rows, key=_place)),
        "",
        _LEGEND,
        *_lacking(gate),
    ]
    return "\n".join(lines) + "\n"


def sentence(gate: Gate) -> str:
    """The verdict and what it means, then a line for each comparison that is not as good, the worse first."""
    bad = sorted((row for row in gate.rows if row.verdict != "not worse"), key=_place)
    return "\n".join([f"{_HEADINGS[gate.verdict]}. {_meaning(gate)}", *map(line, bad)])


def line(row: Gated) -> str:
    """`ours, accuracy: 1.412 to 1.102, change −0.310 [−0.402, −0.218], tolerated −0.100, n = 24: worse`."""
    said = [f"{name} {value}" for name, value in (("change", _change(row)), ("tolerated", _end(row, row.max_drop)))]
    values = " to ".join(MISSING if value is None else f"{value:.3f}" for value in (row.baseline, row.new))
    names = f"{one_line(row.agent)}, {one_line(measure_name(row.measure))}{_way(row)}"
    return f"{names}: {values}, {', '.join(said)}, n = {_n(row)}: {row.verdict}"


def _meaning(gate: Gate) -> str:
    counts = {verdict: sum(row.verdict == verdict for row in gate.rows) for verdict in _HEADINGS}
    said = ", ".join(f"{number} {verdict}" for verdict, number in counts.items() if number)
    if gate.max_drop is None:
        tolerated = f"Without --max-drop, {TOLERATED:.0%} of a measure's range is tolerated."
        beyond, else_ = "there is a drop", ", and is no drop altogether"
    else:
        tolerated = f"A drop of {gate.max_drop:g} is tolerated, in each measure's own unit."
        beyond, else_ = "the drop exceeds what is tolerated", ""
    rise = " Where lower is better, a rise is the drop." if any(row.scale.lower_is_better for row in gate.rows) else ""
    endless = dict.fromkeys(escaped(measure_name(row.measure)) for row in gate.rows if row.scale.width is None)
    if endless and gate.max_drop is None:
        rise += f" Without an upper end a share is of the baseline's mean: {', '.join(endless)}."
    return (
        f"{gate.n_queries} queries, the same in both runs. Of {len(gate.rows)} comparisons: {said}. {tolerated} "
        f"Worse: {beyond} beyond noise (5% for a change either way, Holm over all rows). Not worse: else, the drop's "
        f"interval ends at or below what is tolerated{else_}. Undecided: neither."
        f"{rise}{_needed(gate)}{''.join(f' {said}' for said in gate.early)}"
    )


def _needed(gate: Gate) -> str:
    """What would decide it, of each measure with an undecided row: of its rows the one that needs most."""
    said = []
    open_rows = [row for row in gate.rows if row.verdict == "undecided" and row.passes is not None]
    for measure in dict.fromkeys(row.measure for row in open_rows):
        rows = [row for row in open_rows if row.measure == measure]
        passes, counts = max(row.passes or 0.0 for row in rows), [row.needed for row in rows]
        queries = "no number of queries" if None in counts else f"{max(filter(None, counts)):,} queries"
        said.append(f"{escaped(measure_name(measure))} {passes:.3f} or {queries}")
    if not said:
        return ""
    return (
        " What a run without any change would pass in 4 of 5 cases, on the row that asks for most: as --max-drop here, "
        f"or as many queries with what is tolerated: {'; '.join(said)}."
    )


def _place(row: Gated) -> tuple[bool, int]:
    """Rows that changed come first, the worse before the undecided."""
    return row.unchanged, ("worse", "undecided", "not worse").index(row.verdict)


def _row(row: Gated) -> str:
    values = [MISSING if value is None else f"{value:.3f}" for value in (row.baseline, row.new)]
    cells = [escaped(row.agent), f"{escaped(measure_name(row.measure))}{_way(row)}", *values, _change(row)]
    cells += [_end(row, value) for value in (row.max_drop, row.passes, row.shows)]
    cells += [_n(row), f"**{row.verdict}**" if row.verdict == "worse" else row.verdict]
    return f"| {' | '.join(cells)} |"


def _change(row: Gated) -> str:
    if row.unchanged:
        return "on no query"
    if row.drop.value is None:
        return MISSING
    if row.drop.ci_low is None or row.drop.ci_high is None:
        return _end(row, row.drop.value)
    ends = sorted(_change_of(row, end) for end in (row.drop.ci_low, row.drop.ci_high))
    return f"{_end(row, row.drop.value)} [{', '.join(map(_signed, ends))}]"


def _n(row: Gated) -> str:
    return f"{row.drop.n}, {row.drop.n_failed} lacking" if row.drop.n_failed else str(row.drop.n)


def _way(row: Gated) -> str:
    return " (lower is better)" if row.scale.lower_is_better else ""


def _change_of(row: Gated, drop: float) -> float:
    """New minus baseline: the drop turned round, or where little is good as it is."""
    return drop if row.scale.lower_is_better else -drop


def _end(row: Gated, drop: float | None) -> str:
    return MISSING if drop is None else _signed(_change_of(row, drop))


def _signed(value: float) -> str:
    text = f"{abs(value):.3f}"
    return text if float(text) == 0 else f"{'+' if value > 0 else '−'}{text}"


def _lacking(gate: Gate) -> list[str]:
    said = []
    for run, queries in failures(gate.rows).items():
        if queries:
            more = f" and {len(queries) - _SHOWN} more" if len(queries) > _SHOWN else ""
            named = ", ".join(map(escaped, queries[:_SHOWN]))
            said.append(f"No value in the {run} run on {len(queries)} queries: {named}{more}.")
    for run, agents in (("new", gate.only_new), ("baseline", gate.only_baseline)):
        said += [f"Only the {run} run has {', '.join(map(escaped, agents))}."] if agents else []
    said += [f"{one}." for one in left_out(gate.n_perturbed)]
    return [line for one in said for line in ("", one)]


def escaped(text: str) -> str:
    """One line in which Markdown's and HTML's signs stand for themselves."""
    return _MARKUP.sub(r"\\\1", one_line(text))
