"""Is a new run worse than a baseline? For use in CI, on two results folders over the same queries.

Every agent and measure has a row with a verdict of its own (`gate_rows`). The run is worse if any row is, else
undecided if any is, else not worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragassay.errors import InputError
from ragassay.files import read_records
from ragassay.records import Query
from ragassay.text import did_you_mean, plain

from ..inputs.clusters import Clusters
from ..inputs.sections import source_clusters
from ..statistics.clustered import Values
from ..statistics.paired_comparison import pair_by_query
from .gate_rows import Gated, GateVerdict, Matched, Scale, gate_rows, verdict_of
from .gate_runs import Run, read_run

_Both = tuple[dict[str, dict[str, Values]], dict[str, dict[str, Values]]]
"""Of the baseline and of the new run, measure to agent to values."""

EXIT_STATUS: dict[GateVerdict, int] = {"not worse": 0, "worse": 1, "undecided": 3}


@dataclass(frozen=True)
class Gate:
    """The verdict on a run, its rows, and the agents that only one of the runs has.

    max_drop: the share of a measure's range that was to be tolerated; None where that was left to the queries.
    n_perturbed: queries left out since they are others in changed words.
    could_pass: measure to the smallest share which, tolerated, lets an unchanged run with this scatter pass in four
    cases of five, in all rows at once.
    """

    verdict: GateVerdict
    rows: tuple[Gated, ...]
    n_queries: int
    max_drop: float | None
    could_pass: Mapping[str, float]
    only_new: tuple[str, ...]
    only_baseline: tuple[str, ...]
    n_perturbed: int = 0


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
    criterion of [judge] that both have.
    max_drop: what is tolerated, as a share of a measure's range (0 to 1): 0.02 is 0.02 of MRR, 0.04 of a 0-2 label, and
    of a measure without an end 0.02 of the baseline's mean. None: the smallest that these queries can pass.
    Raises InputError for a folder that cannot be read, other queries, and agents or measures that not both have.
    """
    if max_drop is not None and not 0 <= max_drop < 1:
        raise InputError(
            f"--max-drop is {max_drop:g}", remedy="it is a share of the measure's range, from 0 to below 1"
        )
    _check_queries(new, baseline)
    after, before = read_run(new), read_run(baseline)
    named = _agents(after, before, agents, baseline)
    asked = _measures(after, before, measures)
    clusters = source_clusters(before.findings.material.queries)
    values, scales = (before.values(asked), after.values(asked)), before.scales
    matched = [_match(agent, measure, values, scales[measure], clusters) for agent in named for measure in asked]
    known = [one for one in matched if one is not None]
    if not known:
        raise InputError("no agent that was asked for has any of the measures in both runs", file=new)
    rows, could_pass = gate_rows(known, clusters, max_drop)
    return Gate(
        verdict=verdict_of(rows),
        rows=rows,
        n_queries=len(before.findings.queries),
        max_drop=max_drop,
        could_pass=could_pass,
        only_new=tuple(sorted(set(after.results.agents) - set(before.results.agents))),
        only_baseline=tuple(sorted(set(before.results.agents) - set(after.results.agents))),
        n_perturbed=len(before.findings.perturbed),
    )


def _match(agent: str, measure: str, values: _Both, scale: Scale, clusters: Clusters) -> Matched | None:
    """None where a run does not have the agent's values."""
    before, after = (of_run[measure].get(agent) for of_run in values)
    if before is None or after is None:
        return None
    sides = (_turned(before), _turned(after)) if scale.lower_is_better else (before, after)
    return Matched(agent, measure, before, after, pair_by_query(*sides, clusters), scale)


def _turned(values: Values) -> Values:
    """So that more is better."""
    return {query: None if value is None else -value for query, value in values.items()}


def _check_queries(new: Path, baseline: Path) -> None:
    """Raises InputError where the runs do not have the same queries, ids and texts, in whatever order."""
    for folder in (new, baseline):
        if not folder.is_dir():
            remedy = "name a folder that `ragassay run` has written"
            raise InputError("is not a results folder", file=folder, remedy=remedy)
    ours, theirs = ({q.id: q.text for q in read_records(run / "queries.jsonl", Query)} for run in (new, baseline))
    remedy = "a gate compares runs over the same queries"
    for here, there, folder in ((ours, theirs, baseline), (theirs, ours, new)):
        if missing := sorted(here.keys() - there.keys()):
            said = f"lacks {len(missing)} of the other run's {len(here)} queries ({_some(missing)})"
            raise InputError(said, file=folder / "queries.jsonl", remedy=remedy)
    if changed := sorted(query for query in ours if ours[query] != theirs[query]):
        said = f"{len(changed)} queries have another text than in {plain(str(baseline))} ({_some(changed)})"
        raise InputError(said, file=new / "queries.jsonl", remedy=remedy)


def _agents(after: Run, before: Run, asked: Sequence[str], baseline: Path) -> list[str]:
    both = [agent for agent in sorted(before.results.agents) if agent in after.results.agents]
    if strange := [agent for agent in asked if agent not in both]:
        raise InputError(
            f"'{plain(strange[0])}' is not an agent of both runs",
            remedy=f"{did_you_mean(strange[0], both)}both have {_some(both)}",
        )
    if not both:
        raise InputError("has no agent that the new run has too", file=baseline)
    return sorted(set(asked)) or both


def _measures(after: Run, before: Run, asked: Sequence[str]) -> list[str]:
    both = [measure for measure in before.scales if measure in after.scales]
    for measure in asked:
        if measure not in both:
            raise _no_measure(measure, after, before, both)
    chosen = list(dict.fromkeys(asked)) or [measure for measure in before.usual if measure in after.usual]
    if not chosen:
        raise InputError("has no measure that the new run has too", file=before.workspace.results)
    for measure in chosen:
        if before.scales[measure] != after.scales[measure]:
            said = f"'{plain(measure)}' is {before.scales[measure]} in the baseline and {after.scales[measure]} here"
            raise InputError(said, file=after.workspace.results, remedy="judge both runs by the same scale")
    return chosen


def _no_measure(measure: str, after: Run, before: Run, both: Sequence[str]) -> InputError:
    """Which run lacks it, what it may be misspelt for, and the first of those that there are."""
    lacking = [run.workspace.results for run in (after, before) if measure not in run.scales]
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
