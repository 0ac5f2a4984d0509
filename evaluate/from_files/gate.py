"""Is a new run worse than a baseline? For use in CI, on two results folders over the same queries.

Every agent and measure has a row with a verdict of its own (`gate_rows`). The run is worse if any row is, else
undecided if any is, else not worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragassay.errors import InputError
from ragassay.experiment.judge_settings import JudgeSettings
from ragassay.experiment.question_settings import QuestionsSettings
from ragassay.experiment.settings import AnswerSettings, Experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Query
from ragassay.text import did_you_mean, plain

from ..figures import query_values
from ..inputs.clusters import Clusters
from ..inputs.findings import Findings, read_findings
from ..inputs.perturbed import originals_alone
from ..inputs.sections import source_clusters
from ..report.page import read_results
from ..results import Results
from ..statistics.clustered import Values
from ..statistics.paired_comparison import pair_by_query
from .gate_rows import Gated, GateVerdict, Matched, gate_rows, verdict_of

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


@dataclass(frozen=True)
class _Run:
    """A results folder; `values` is measure to agent to query to value, `widths` the range of each measure."""

    results: Results
    findings: Findings
    values: dict[str, dict[str, Values]]
    widths: dict[str, float]


def gate(
    new: Path,
    baseline: Path,
    *,
    measures: Sequence[str] = (),
    agents: Sequence[str] = (),
    max_drop: float | None = None,
) -> Gate:
    """Compare two results folders, for each of `agents` (all that both have) on each of `measures`.

    measures: as results.json spells them; by default MRR of very relevant passages and every criterion that both have.
    max_drop: what is tolerated, as a share of a measure's range (0 to 1): 0.02 is 0.02 of MRR, 0.04 of a 0-2 label.
    None: the smallest that these queries can pass.
    Raises InputError for a folder that cannot be read, other queries, and agents or measures that not both have.
    """
    if max_drop is not None and not 0 <= max_drop < 1:
        raise InputError(
            f"--max-drop is {max_drop:g}", remedy="it is a share of the measure's range, from 0 to below 1"
        )
    _check_queries(new, baseline)
    after, before = _read(new), _read(baseline)
    named = _agents(after, before, agents, baseline)
    asked = _measures(after, before, measures, baseline)
    clusters = source_clusters(before.findings.material.queries)
    matched = [_match(after, before, agent, measure, clusters) for agent in named for measure in asked]
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


def _match(after: _Run, before: _Run, agent: str, measure: str, clusters: Clusters) -> Matched | None:
    """None where a run does not have the agent's values."""
    if agent not in before.values[measure] or agent not in after.values[measure]:
        return None
    values = before.values[measure][agent], after.values[measure][agent]
    return Matched(agent, measure, *values, pair_by_query(*values, clusters), before.widths[measure])


def _read(folder: Path) -> _Run:
    """A results folder as `compare` left it. Raises InputError."""
    results = read_results(folder / "results.json")
    k = results.settings.get("k")
    if not isinstance(k, int):
        raise InputError(
            "settings has no cutoff k", file=folder / "results.json", remedy="run `ragassay compare` again"
        )
    findings = originals_alone(read_findings(Workspace(folder, folder, _no_experiment()), results.agents))
    criteria = list(dict.fromkeys(name for row in results.pointwise.values() for name in row))
    values: dict[str, dict[str, Values]] = {}
    for by_agent in (query_values.retrieval_by_query(findings, k), query_values.pointwise_by_query(findings, criteria)):
        for agent, row in by_agent.items():
            for measure, by_query in row.items():
                values.setdefault(measure, {})[agent] = by_query
    return _Run(results, findings, values, {m: query_values.highest(m, criteria) for m in values})


def _no_experiment() -> Experiment:
    """A results folder stands for itself: nothing here is read but what a workspace must have."""
    return Experiment(
        questions=QuestionsSettings(source="own"),
        answer=AnswerSettings(model="file:none"),
        judge=JudgeSettings(model="file:none"),
    )


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


def _agents(after: _Run, before: _Run, asked: Sequence[str], baseline: Path) -> list[str]:
    both = [agent for agent in sorted(before.results.agents) if agent in after.results.agents]
    if strange := [agent for agent in asked if agent not in both]:
        raise InputError(
            f"'{plain(strange[0])}' is not an agent of both runs",
            remedy=f"{did_you_mean(strange[0], both)}both have {_some(both)}",
        )
    if not both:
        raise InputError("has no agent that the new run has too", file=baseline)
    return sorted(set(asked)) or both


def _measures(after: _Run, before: _Run, asked: Sequence[str], baseline: Path) -> list[str]:
    both = [measure for measure in before.values if measure in after.values]
    if strange := [measure for measure in asked if measure not in both]:
        remedy = f"{did_you_mean(strange[0], both)}both have {_some(both, 99)}"
        raise InputError(f"'{plain(strange[0])}' is not a measure of both runs", remedy=remedy)
    chosen = list(dict.fromkeys(asked)) or [m for m in both if m.startswith("RR(rel=2)") or before.widths[m] > 1]
    if not chosen:
        raise InputError("has no measure that the new run has too", file=baseline)
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
