"""What the evaluators of `[evaluate]` gave, as values of each agent by query.

What judges answers is such a value already. What judges passages becomes the mean label of the passages that an agent
retrieved for the query and, on scales of 0 to 3, the precision, average precision and reciprocal rank at each k of
`evaluate.k`, relevant from 2 (as Open RAG Eval does with UMBRELA): `umbrela.P(rel=2)@5`. AP is trec_eval's, over all
relevant passages that any agent found for the query; Open RAG Eval divides by those that the agent itself found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragassay.records import Assessment

from ..inputs.findings import Findings
from ..judging.engine.evaluator import Criterion, Evaluator
from ..results import Figures
from ..statistics.clustered import Range, Values, limits_of
from ..statistics.resamples import Resamples
from .good_enough.shares import AgentShares
from .measures import judged_by_query
from .pass_or_fail import AgentOverall

RANKING = ("P(rel=2)@{k}", "AP(rel=2)@{k}", "RR(rel=2)@{k}")
GRADED = (0.0, 3.0)
"""The scale on which a passage is relevant from 2."""


@dataclass(frozen=True)
class Judgments:
    """The evaluators, and all that they gave."""

    evaluators: Sequence[Evaluator] = ()
    rows: Sequence[Assessment] = ()


@dataclass(frozen=True)
class Evaluations:
    """values: agent to measure to query to value, None where it failed. scales: measure to its ends.

    evaluators: measure to the evaluator it is of. overall: Agent Evaluation's verdicts on each agent. lower_is_better:
    the measures of which little is good. thresholds: criterion to the label that is good enough. shares: agent to
    criterion to what reaches it. judged: what all this is made from. classified: what `classification` gave.
    """

    values: dict[str, dict[str, Values]] = field(default_factory=dict)
    scales: dict[str, Range] = field(default_factory=dict)
    evaluators: dict[str, str] = field(default_factory=dict)
    overall: dict[str, AgentOverall] = field(default_factory=dict)
    lower_is_better: set[str] = field(default_factory=set)
    thresholds: dict[str, float] = field(default_factory=dict)
    shares: dict[str, dict[str, AgentShares]] = field(default_factory=dict)
    judged: Judgments = Judgments()
    classified: tuple[Assessment, ...] = ()

    def figures(self, draws: Resamples) -> Figures:
        """The mean of each measure over its queries."""
        return {
            agent: {name: draws.figure(row, self.limits(name)) for name, row in named.items()}
            for agent, named in self.values.items()
        }

    def limits(self, measure: str) -> Range | None:
        """The ends of its scale; None where it has no highest value."""
        return limits_of(*self.scales[measure])


def evaluations_by_query(
    findings: Findings, rows: Sequence[Assessment], evaluators: Sequence[Evaluator], cutoffs: Sequence[int]
) -> Evaluations:
    """Every measure of every evaluator, in their order; a query without the ground truth needed owes no value."""
    by_criterion: dict[str, list[Assessment]] = defaultdict(list)
    for row in rows:
        by_criterion[row.criterion].append(row)
    made = Evaluations({agent: {} for agent in findings.material.agents})
    for evaluator in evaluators:
        for criterion in evaluator.criteria:
            mine = by_criterion[criterion.name]
            if evaluator.unit == "passage":
                owing = [query.id for query in findings.material.queries if not evaluator.lacks(query)]
                _add_passages(made, findings, owing, mine, criterion, cutoffs)
            elif mine:
                _add_answers(made, mine, criterion)
        made.evaluators.update({name: evaluator.name for name in made.scales if name not in made.evaluators})
    return made


def measures_of(evaluators: Sequence[Evaluator], cutoffs: Sequence[int]) -> list[str]:
    """The names of all measures that they may give, before anything is judged."""
    names = []
    for evaluator in evaluators:
        for criterion in evaluator.criteria:
            names.append(criterion.name)
            if evaluator.unit == "passage" and (criterion.lowest, criterion.highest) == GRADED:
                names += _ranking_measures(criterion, cutoffs)
    return names


def _ranking_measures(criterion: Criterion, cutoffs: Sequence[int]) -> list[str]:
    return [f"{criterion.name}.{one.format(k=k)}" for k in cutoffs for one in RANKING]


def _note(made: Evaluations, criterion: Criterion) -> None:
    made.scales[criterion.name] = (criterion.lowest, criterion.highest)
    if criterion.lower_is_better:
        made.lower_is_better.add(criterion.name)


def _add_answers(made: Evaluations, rows: Sequence[Assessment], criterion: Criterion) -> None:
    _note(made, criterion)
    for agent, measures in made.values.items():
        measures[criterion.name] = {row.query_id: row.label for row in rows if row.subject == agent}


def _add_passages(
    made: Evaluations,
    findings: Findings,
    owing: Sequence[str],
    rows: Sequence[Assessment],
    criterion: Criterion,
    cutoffs: Sequence[int],
) -> None:
    _note(made, criterion)
    if (criterion.lowest, criterion.highest) == GRADED:
        made.scales.update(dict.fromkeys(_ranking_measures(criterion, cutoffs), (0.0, 1.0)))
    for agent, measures in of_passages(findings, owing, rows, criterion, cutoffs).items():
        made.values[agent].update(measures)


def of_passages(
    findings: Findings,
    owing: Sequence[str],
    rows: Sequence[Assessment],
    criterion: Criterion,
    cutoffs: Sequence[int],
) -> dict[str, dict[str, Values]]:
    """Agent to measure to values, over the queries that owe one, also those for which no agent retrieved anything."""
    labels = {(row.query_id, row.subject): row.label for row in rows}
    values: dict[str, dict[str, Values]] = {
        agent: {criterion.name: {query: _mean_label(findings, agent, query, labels) for query in owing}}
        for agent in findings.material.agents
    }
    if (criterion.lowest, criterion.highest) == GRADED:
        for agent, ranking in findings.rankings.items():
            for k in cutoffs:
                for one in RANKING:
                    spelling = one.format(k=k)
                    values[agent][f"{criterion.name}.{spelling}"] = _ranked(spelling, owing, labels, ranking, k)
    return values


def _mean_label(
    findings: Findings, agent: str, query: str, labels: Mapping[tuple[str, str], float | None]
) -> float | None:
    """Of the passages the answer was made from; None where there is none or one has no label."""
    given = [labels.get((query, id)) for id in dict.fromkeys(findings.material.answers[query, agent].passages)]
    known = [label for label in given if label is not None]
    return sum(known) / len(known) if known and len(known) == len(given) else None


def _ranked(
    spelling: str,
    queries: Sequence[str],
    labels: Mapping[tuple[str, str], float | None],
    ranking: Mapping[str, Sequence[tuple[str, float]] | None],
    k: int,
) -> Values:
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    failed: dict[str, list[str]] = defaultdict(list)
    for (query, passage), label in labels.items():
        if label is None:
            failed[query].append(passage)
        else:
            qrels[query][passage] = int(label)
    return judged_by_query(spelling, queries, qrels, ranking, failed, k)
