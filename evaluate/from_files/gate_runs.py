"""A results folder as the gate reads it: every measure by query, with the ends of its scale and its direction."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

from ragassay.errors import InputError
from ragassay.experiment.judge_settings import JudgeSettings
from ragassay.experiment.question_settings import QuestionsSettings
from ragassay.experiment.settings import AnswerSettings, Experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Assessment

from ..figures import query_values
from ..figures.evaluator_values import of_passages
from ..inputs.findings import Findings, read_findings
from ..inputs.perturbed import originals_alone
from ..judging.engine.evaluator import Criterion
from ..report.page import read_results
from ..results import Results
from ..statistics.clustered import Values
from .gate_rows import Scale

_OF_RANKING = re.compile(r"(?P<criterion>.+)\.(?:P|AP|RR)\(rel=2\)@(?P<k>\d+)")
"""A figure that is worked out from a judge of passages."""


@dataclass(frozen=True)
class Run:
    """A results folder. scales: of every measure. usual: those that are compared unless others are asked for."""

    workspace: Workspace
    results: Results
    findings: Findings
    scales: dict[str, Scale]
    usual: tuple[str, ...]
    _judged: dict[str, dict[str, Values]]

    def values(self, measures: Sequence[str]) -> dict[str, dict[str, Values]]:
        """Measure to agent to query to value. Raises InputError where what evaluators gave cannot be read."""
        if all(name in self._judged for name in measures):
            return {name: self._judged[name] for name in measures}
        known = {**self._evaluated(), **self._judged}
        return {name: known.get(name, {}) for name in measures}

    def _evaluated(self) -> dict[str, dict[str, Values]]:
        """What the evaluators gave; a judge of passages is told by its records' not being of agents."""
        by_criterion: dict[str, list[Assessment]] = defaultdict(list)
        queries = set(self.findings.queries)
        for row in read_records(self.workspace.judgments, Assessment):
            if row.query_id in queries:
                by_criterion[row.criterion].append(row)
        agents, found = set(self.results.agents), defaultdict[str, dict[str, Values]](dict)
        for name, rows in by_criterion.items():
            if name not in self.results.evaluation_scales:
                continue
            if agents.issuperset(row.subject for row in rows):
                for row in rows:
                    found[name].setdefault(row.subject, {})[row.query_id] = row.label
                continue
            for agent, named in self._of_passages(name, rows).items():
                for measure, values in named.items():
                    found[measure][agent] = values
        return found

    def _of_passages(self, name: str, rows: Sequence[Assessment]) -> dict[str, dict[str, Values]]:
        low, high = self.results.evaluation_scales[name]
        cutoffs = [int(one["k"]) for one in map(_OF_RANKING.fullmatch, self.scales) if one and one["criterion"] == name]
        criterion = Criterion(name, low, inf if high is None else high)
        return of_passages(self.findings, self._owing(name, rows), rows, criterion, list(dict.fromkeys(cutoffs)))

    def _owing(self, name: str, rows: Sequence[Assessment]) -> Sequence[str]:
        """The queries that owe a value: all, or where the figures are of fewer those of which there is a record."""
        counts = [one.n + one.n_failed for row in self.results.evaluations.values() if (one := row.get(name))]
        if max(counts, default=0) == len(self.findings.queries):
            return self.findings.queries
        there = {row.query_id for row in rows}
        return [query for query in self.findings.queries if query in there]


def read_run(folder: Path) -> Run:
    """A results folder as `compare` left it. Raises InputError."""
    results = read_results(folder / "results.json")
    k = results.settings.get("k")
    if not isinstance(k, int):
        raise InputError(
            "settings has no cutoff k", file=folder / "results.json", remedy="run `ragassay compare` again"
        )
    workspace = Workspace(folder, folder, _no_experiment())
    findings = originals_alone(read_findings(workspace, results.agents))
    criteria = list(dict.fromkeys(name for row in results.pointwise.values() for name in row))
    judged: dict[str, dict[str, Values]] = {}
    for by_agent in (query_values.retrieval_by_query(findings, k), query_values.pointwise_by_query(findings, criteria)):
        for agent, row in by_agent.items():
            for measure, by_query in row.items():
                judged.setdefault(measure, {})[agent] = by_query
    scales = {name: Scale(highest=query_values.highest(name, criteria)) for name in judged}
    usual = tuple(name for name in judged if name.startswith("RR(rel=2)") or name in criteria)
    return Run(workspace, results, findings, {**dict(_scales(results)), **scales}, usual, judged)


def _scales(results: Results) -> Iterator[tuple[str, Scale]]:
    for name, (low, high) in results.evaluation_scales.items():
        yield name, Scale(low, inf if high is None else high, name in results.lower_is_better)


def _no_experiment() -> Experiment:
    """A results folder stands for itself: nothing here is read but what a workspace must have."""
    return Experiment(
        questions=QuestionsSettings(source="own"),
        answer=AnswerSettings(model="file:none"),
        judge=JudgeSettings(model="file:none"),
    )
