"""Is a new run worse than a baseline? For use in CI, on two results folders over the same queries.

Every agent and measure has a row with a verdict of its own (`gate_rows`), from the values by query that `compare` left
(`values.jsonl`). The run is worse if any row is, else undecided if any is, else not worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

from ragassay.errors import InputError
from ragassay.files import read_records
from ragassay.perturbed import perturbed_from
from ragassay.records import Query
from ragassay.text import did_you_mean, plain

from ..figures.values import Scale, StoredValues, read_values, scale_of
from ..report.page import read_results
from ..results import POINTS, Results
from .gate_rows import Gated, GateVerdict, Matched, gate_rows, verdict_of

EXIT_STATUS: dict[GateVerdict, int] = {"not worse": 0, "worse": 1, "undecided": 3}


@dataclass(frozen=True)
class Gate:
    """The verdict on a run, its rows, and the agents that only one of the runs has.

    max_drop: what was to be tolerated, in each measure's own unit; None where that was not said. n_perturbed: queries
    left out since they are others in changed words.
    """

    verdict: GateVerdict
    rows: tuple[Gated, ...]
    n_queries: int
    max_drop: float | None
    only_new: tuple[str, ...]
    only_baseline: tuple[str, ...]
    n_perturbed: int = 0


@dataclass(frozen=True)
class Run:
    """A results folder as `compare` left it. scales: of every measure that has values by query."""

    folder: Path
    results: Results
    stored: StoredValues
    scales: Mapping[str, Scale]

    @property
    def usual(self) -> list[str]:
        """What is compared unless something else is asked for: MRR of very relevant passages, and every criterion."""
        criteria = {name for row in self.results.pointwise.values() for name in row}
        return [name for name in self.scales if name.startswith("RR(rel=2)") or name in criteria]


def read_run(folder: Path) -> Run:
    """Raises InputError where `results.json` or `values.jsonl` is missing or not as `compare` writes it."""
    results, stored = read_results(folder / "results.json"), read_values(folder / "values.jsonl")
    return Run(folder, results, stored, {name: scale_of(name, results) for name in stored.measures})


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
    known = [
        Matched(agent, measure, row, other, before.scales[measure])
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
        raise InputError(
            f"'{plain(strange[0])}' is not an agent of both runs",
            remedy=f"{did_you_mean(strange[0], both)}both have {_some(both)}",
        )
    if not both:
        raise InputError("has no agent that the new run has too", file=before.folder)
    return sorted(set(asked)) or both


def _measures(after: Run, before: Run, asked: Sequence[str]) -> list[str]:
    both = [measure for measure in before.scales if measure in after.scales]
    for measure in asked:
        if measure not in both:
            raise _no_measure(measure, after, before, both)
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


def _no_measure(measure: str, after: Run, before: Run, both: Sequence[str]) -> InputError:
    """Which run lacks it, what it may be misspelt for, and the first of those that there are."""
    lacking = [run.folder for run in (after, before) if measure not in run.scales]
    where = f": {plain(str(lacking[0]))} has none of it" if len(lacking) == 1 else ""
    known = _some(both, 12)
    return InputError(
        f"'{plain(measure)}' is not a measure of both runs{where}",
        remedy=f"{did_you_mean(measure, both)}both have {known}",
    )


def _some(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return plain(", ".join(names[:most]) + more) or "none"


def failures(rows: Sequence[Gated]) -> Mapping[str, tuple[str, ...]]:
    """`new`, `baseline`: the queries on which a run has no value for some row, sorted."""
    return {
        "new": tuple(sorted({query for row in rows for query in row.lacking_new})),
        "baseline": tuple(sorted({query for row in rows for query in row.lacking_baseline})),
    }
