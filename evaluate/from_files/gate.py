"""Is a new run worse than a baseline? For use in CI, on two results folders over the same queries.

Every agent and measure has a drop, baseline - new, paired by query and clustered by source section. Its verdict is

    worse       the drop exceeds `max_drop` beyond noise: one-sided at 2.5%, Holm-corrected over agents and measures;
    not worse   the 95% interval of the drop ends at or below `max_drop`, also if every query on which only the new run
                failed scored 0 there; or no query's value changed at all;
    undecided   neither: the interval of the drop straddles `max_drop` (or only Holm's correction keeps it undecided).

The run is worse if any of them is, else undecided if any is, else not worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from ragassay.errors import InputError
from ragassay.experiment.settings import AnswerSettings, Experiment, JudgeSettings, QuestionsSettings
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Figure, Query
from ragassay.text import plain

from ..figures import query_values
from ..inputs.findings import Findings, read_findings
from ..inputs.sections import source_clusters
from ..report.page import read_results
from ..results import Results
from ..statistics.clustered import NO_SPREAD, Values, effective_queries
from ..statistics.holm import holm
from ..statistics.paired_comparison import LEVEL, Paired, pair_by_query

GateVerdict = Literal["not worse", "worse", "undecided"]

EXIT_STATUS: dict[GateVerdict, int] = {"not worse": 0, "worse": 1, "undecided": 3}


@dataclass(frozen=True)
class Gated:
    """One agent on one measure. drop: baseline - new over the queries both have; n_failed are those that are lacking.

    max_drop: in the measure's own unit. unchanged: no query's value differs. p: one-sided, of a drop of at most
    `max_drop`, Holm-corrected; None where there is nothing to test. lacking_new, lacking_baseline: the ids on
    which a run has no value.
    """

    agent: str
    measure: str
    baseline: float | None
    new: float | None
    drop: Figure
    max_drop: float
    unchanged: bool
    p: float | None
    verdict: GateVerdict
    lacking_new: tuple[str, ...]
    lacking_baseline: tuple[str, ...]


@dataclass(frozen=True)
class Gate:
    """The verdict on a run, its rows, and the agents that only one of the runs has."""

    verdict: GateVerdict
    rows: tuple[Gated, ...]
    n_queries: int
    max_drop: float
    only_new: tuple[str, ...]
    only_baseline: tuple[str, ...]


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
    max_drop: float = 0.02,
) -> Gate:
    """Compare two results folders, for each of `agents` (all that both have) on each of `measures`.

    measures: as results.json spells them; by default MRR of very relevant passages and every criterion that both have.
    max_drop: what is tolerated, as a share of a measure's range (0 to 1): 0.02 is 0.02 of MRR, 0.04 of a 0-2 label.
    Raises InputError for a folder that cannot be read, other queries, and agents or measures that not both have.
    """
    if not 0 <= max_drop < 1:
        raise InputError(
            f"--max-drop is {max_drop:g}", remedy="it is a share of the measure's range, from 0 to below 1"
        )
    _check_queries(new, baseline)
    after, before = _read(new), _read(baseline)
    named = _agents(after, before, agents, baseline)
    asked = _measures(after, before, measures, baseline)
    clusters = source_clusters(before.findings.material.queries)
    pairs = [
        (agent, measure, pair_by_query(before.values[measure][agent], after.values[measure][agent], clusters))
        for agent in named
        for measure in asked
        if agent in before.values[measure] and agent in after.values[measure]
    ]
    if not pairs:
        raise InputError("no agent that was asked for has any of the measures in both runs", file=new)
    adjusted = holm([_p(pair, after.widths[measure], max_drop) for _, measure, pair in pairs])
    rows = tuple(
        _row(agent, measure, pair, p, max_drop, (before, after))
        for (agent, measure, pair), p in zip(pairs, adjusted, strict=True)
    )
    found = {row.verdict for row in rows}
    return Gate(
        verdict="worse" if "worse" in found else "undecided" if "undecided" in found else "not worse",
        rows=rows,
        n_queries=len(before.findings.queries),
        max_drop=max_drop,
        only_new=tuple(sorted(set(after.results.agents) - set(before.results.agents))),
        only_baseline=tuple(sorted(set(before.results.agents) - set(after.results.agents))),
    )


def _row(agent: str, measure: str, pair: Paired, p: float | None, max_drop: float, runs: tuple[_Run, _Run]) -> Gated:
    width = runs[0].widths[measure]
    drop = pair.difference(width)
    before, after = (run.values[measure][agent] for run in runs)
    return Gated(
        agent=agent,
        measure=measure,
        baseline=_mean(before, pair.queries),
        new=_mean(after, pair.queries),
        drop=drop,
        max_drop=max_drop * width,
        unchanged=_unchanged(pair),
        p=p,
        verdict=_verdict(pair, drop, p, max_drop * width, before),
        lacking_new=pair.lacking_b,
        lacking_baseline=pair.lacking_a,
    )


def _verdict(pair: Paired, drop: Figure, p: float | None, tolerated: float, before: Values) -> GateVerdict:
    if p is not None and p <= LEVEL / 2:
        return "worse"
    lost = [value for query in pair.lacking_b if (value := before.get(query)) is not None]
    if drop.value is None or drop.ci_high is None:
        return "undecided"
    high = 0.0 if _unchanged(pair) else drop.ci_high
    # The worst that the failures of the new run can hide: a score of 0 on each.
    worst = (drop.n * high + sum(lost)) / (drop.n + len(lost))
    return "not worse" if worst <= tolerated + 1e-9 else "undecided"


def _unchanged(pair: Paired) -> bool:
    return bool(len(pair.gaps)) and float(np.abs(pair.gaps).max()) < NO_SPREAD


def _p(pair: Paired, width: float, max_drop: float) -> float | None:
    """One-sided p of a mean drop of at most `max_drop` of the range; None without two sections."""
    from scipy.special import stdtr

    if not len(pair.gaps):
        return None
    found = pair.over_sections()
    if found.n_clusters < 2:
        return None
    beyond = float(found.value) - max_drop * width
    if np.ptp(pair.gaps) < NO_SPREAD:
        # The largest chance of n like drops where the mean is the tolerance: the others gain all that can be gained.
        elsewhere = max(beyond, 0.0) / (float(found.value) + width) if beyond > 0 else 0.0
        return float((1 - elsewhere) ** effective_queries(pair.clusters.sizes))
    error = float(found.jackknife_error)
    if error < NO_SPREAD:
        return None
    return float(stdtr(found.df, -beyond / error))


def _mean(values: Values, queries: Sequence[str]) -> float | None:
    known = [value for query in queries if (value := values.get(query)) is not None]
    return sum(known) / len(known) if known else None


def _read(folder: Path) -> _Run:
    """A results folder as `compare` left it. Raises InputError."""
    results = read_results(folder / "results.json")
    k = results.settings.get("k")
    if not isinstance(k, int):
        raise InputError(
            "settings has no cutoff k", file=folder / "results.json", remedy="run `ragassay compare` again"
        )
    findings = read_findings(Workspace(folder, folder, _no_experiment()), results.agents)
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
        raise InputError(f"'{plain(strange[0])}' is not an agent of both runs", remedy=f"both have {_some(both)}")
    if not both:
        raise InputError("has no agent that the new run has too", file=baseline)
    return sorted(set(asked)) or both


def _measures(after: _Run, before: _Run, asked: Sequence[str], baseline: Path) -> list[str]:
    both = [measure for measure in before.values if measure in after.values]
    if strange := [measure for measure in asked if measure not in both]:
        raise InputError(f"'{plain(strange[0])}' is not a measure of both runs", remedy=f"both have {_some(both, 99)}")
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
