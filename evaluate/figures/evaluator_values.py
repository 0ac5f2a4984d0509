"""What the evaluators of `[evaluate]` gave, as values of each agent by query.

What judges answers is such a value already. What judges passages becomes the mean label of the passages that an agent
retrieved for the query and, on scales of 0 to 3, the precision, average precision and reciprocal rank at each k of
`evaluate.k`, relevant from 2 (as Open RAG Eval does with UMBRELA): `umbrela.P(rel=2)@5`. AP is trec_eval's, over all
relevant passages that any agent found for the query; Open RAG Eval divides by those that the agent itself found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from ragassay.records import Assessment, Figure

from ..inputs.clusters import ALONE, Clusters
from ..inputs.findings import Findings
from ..judging.engine.evaluator import Criterion, Evaluator
from ..judging.judges.eval_studio.truth import Classification
from ..measures.measure import Judged, measure
from ..results import Figures
from ..statistics.clustered import Values, limits_of
from ..statistics.resamples import Resamples, resamples
from .good_enough import AgentShares, by_criterion, mean_label
from .pass_or_fail import AgentOverall
from .values import Scale

CLASSIFICATION = Classification.name

MOST_CLASSES = 50
"""With more, there are no figures of each class by itself."""


class Named(NamedTuple):
    """The class that a query expects, and what the answer names; "" for none of the classes."""

    query: str
    expected: str
    given: str


def classification_figures(rows: Sequence[Assessment], draws: Resamples) -> Figures:
    """Agent to `accuracy`, `precision`, `recall`, `f1`, then `precision(CLASS)` and so on of each of up to 50 classes.

    For a class: precision is TP / (TP + FP), recall TP / (TP + FN), F1 2 TP / (2 TP + FP + FN); the plain ones are
    their means over the classes that have one (macro), as scikit-learn's with `zero_division=nan`. An answer that names
    no class counts among the FN of the one expected. What is not defined, as the precision of a class that nobody
    named, is missing and is no 0. Intervals are over queries, taken together by their clusters: of a class by the
    ratio's, of a macro mean by its linear approximation (the delta method: each query's part in each class's ratio).

    rows: of any evaluators. n counts answers for the first four, for a class what its ratio is over; n_failed the
    answers without a record. Empty where `classification` gave nothing.
    """
    mine = [row for row in rows if row.criterion == CLASSIFICATION]
    # Those that are set, or else expected, of all agents: so that all have the same.
    details = [row.details[0] for row in mine if row.label is not None]
    classes = sorted({str(name) for one in details for name in one["classes"] or [one["expected"]]})
    agents = dict.fromkeys(row.subject for row in mine)
    return {agent: _of_agent([row for row in mine if row.subject == agent], classes, draws) for agent in agents}


def _of_agent(rows: Sequence[Assessment], classes: Sequence[str], draws: Resamples) -> dict[str, Figure]:
    known = []
    for row in rows:
        if row.label is not None:
            expected, given = (str(row.details[0][name]) for name in ("expected", "given"))
            known.append(Named(row.query_id, expected, given if given in classes else ""))
    failed = len(rows) - len(known)
    of_class: dict[str, list[Named]] = {one: [] for one in classes}
    for answer in known:
        for one in {answer.expected, answer.given} - {""}:
            of_class[one].append(answer)
    figures = {"accuracy": draws.figure({row.query_id: row.label for row in rows}, (0.0, 1.0))}
    for name in _PARTS:
        figures[name] = _macro(known, of_class, name, draws, failed)
    for one, name in product(classes if len(classes) <= MOST_CLASSES else (), _PARTS):
        parts = {row.query: _PARTS[name](row, one) for row in of_class[one]}
        above, below = ({query: part[at] for query, part in parts.items()} for at in (0, 1))
        n = sum(value > 0 for value in below.values())
        figures[f"{name}({one})"] = draws.ratio(above, below, n=n, n_failed=failed, limits=(0.0, 1.0))
    return figures


Part = Callable[[Named, str], tuple[float, float]]
"""What an answer adds to a class's ratio, above and below."""

_PARTS: dict[str, Part] = {
    "precision": lambda row, one: (float(row.expected == row.given), float(row.given == one)),
    "recall": lambda row, one: (float(row.expected == row.given), float(row.expected == one)),
    "f1": lambda row, one: (2.0 * (row.expected == row.given), float(row.expected == one) + (row.given == one)),
}
"""Of an answer that expects or names the class."""


def _macro(
    rows: Sequence[Named], of_class: Mapping[str, Sequence[Named]], name: str, draws: Resamples, failed: int
) -> Figure:
    """Each answer's value is the mean plus its part in the ratios, so that the mean of these is the macro mean."""
    ratios, shares = [], dict.fromkeys((row.query for row in rows), 0.0)
    for one, some in of_class.items():
        parts = [_PARTS[name](row, one) for row in some]
        if below := sum(part[1] for part in parts):
            ratios.append(sum(part[0] for part in parts) / below)
            for row, (above, under) in zip(some, parts, strict=True):
                shares[row.query] += len(rows) * (above - ratios[-1] * under) / below
    if not ratios:
        return Figure(value=None, n=0, n_failed=failed)
    mean = sum(ratios) / len(ratios)
    return draws.mean([(query, mean + share / len(ratios)) for query, share in shares.items()], failed)


PASSAGES = "all passages"


def means(
    rows: Sequence[Assessment], evaluators: Sequence[Evaluator], clusters: Clusters = ALONE
) -> Iterator[tuple[str, str, Figure]]:
    """(criterion, agent or "all passages", figure) in the evaluators' order; the figure is of labels, on their scale.

    n counts answers or passages, n_failed those without a value; the interval is over queries, taken together by
    `clusters`.
    """
    draws = resamples(tuple(dict.fromkeys(row.query_id for row in rows)), 1, 0, clusters)
    for evaluator, criterion, mine in by_criterion(evaluators, rows):
        limits = limits_of(criterion.lowest, criterion.highest)
        if evaluator.unit == "passage":
            known = [(row.query_id, row.label) for row in mine if row.label is not None]
            yield criterion.name, PASSAGES, draws.mean(known, len(mine) - len(known), limits)
            continue
        for agent in dict.fromkeys(row.subject for row in mine):
            labels = {row.query_id: row.label for row in mine if row.subject == agent}
            yield criterion.name, agent, draws.figure(labels, limits)


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
    """values: agent to measure to query to value, None where it failed. scales: of the measures.

    evaluators: measure to the evaluator it is of. overall: Agent Evaluation's verdicts on each agent. thresholds:
    criterion to the label that is good enough. shares: agent to criterion to what reaches it. judged: what all this is
    made from. classified: what `classification` gave.
    """

    values: dict[str, dict[str, Values]] = field(default_factory=dict)
    scales: dict[str, Scale] = field(default_factory=dict)
    evaluators: dict[str, str] = field(default_factory=dict)
    overall: dict[str, AgentOverall] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=dict)
    shares: dict[str, dict[str, AgentShares]] = field(default_factory=dict)
    judged: Judgments = Judgments()
    classified: tuple[Assessment, ...] = ()

    def figures(self, draws: Resamples) -> Figures:
        """The mean of each measure over its queries."""
        return {
            agent: {name: draws.figure(row, self.scales[name].limits) for name, row in named.items()}
            for agent, named in self.values.items()
        }


def evaluations_by_query(
    findings: Findings, rows: Sequence[Assessment], evaluators: Sequence[Evaluator], cutoffs: Sequence[int]
) -> Evaluations:
    """Every measure of every evaluator, in their order; a query without the ground truth needed owes no value."""
    made = Evaluations({agent: {} for agent in findings.material.agents})
    for evaluator, criterion, mine in by_criterion(evaluators, rows):
        name = criterion.name
        if not mine and evaluator.unit != "passage":
            continue
        made.scales[name] = Scale(criterion.lowest, criterion.highest, criterion.lower_is_better)
        if evaluator.unit == "passage":
            owing = [query.id for query in findings.material.queries if not evaluator.lacks(query)]
            if made.scales[name].ends == GRADED:
                made.scales.update(dict.fromkeys(_ranking_measures(criterion, cutoffs), Scale()))
            for agent, measures in _of_passages(findings, owing, mine, criterion, cutoffs).items():
                made.values[agent].update(measures)
        else:
            for agent, measures in made.values.items():
                measures[name] = {row.query_id: row.label for row in mine if row.subject == agent}
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


def _of_passages(
    findings: Findings,
    owing: Sequence[str],
    rows: Sequence[Assessment],
    criterion: Criterion,
    cutoffs: Sequence[int],
) -> dict[str, dict[str, Values]]:
    """Agent to measure to values, over the queries that owe one, also those for which no agent retrieved anything."""
    labels = {(row.query_id, row.subject): row.label for row in rows}
    answers = findings.material.answers
    values: dict[str, dict[str, Values]] = {}
    for agent in findings.material.agents:
        given = ((query, answers.get((query, agent))) for query in owing)
        values[agent] = {criterion.name: {query: mean_label(row, labels) for query, row in given if row is not None}}
    if (criterion.lowest, criterion.highest) != GRADED:
        return values
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    failed: dict[str, list[str]] = defaultdict(list)
    for (query, passage), label in labels.items():
        if label is None:
            failed[query].append(passage)
        else:
            qrels[query][passage] = int(label)
    for agent, ranking in findings.rankings.items():
        judged = Judged(list(values[agent][criterion.name]), qrels, ranking, failed)
        for spelling in [one.format(k=k) for k in cutoffs for one in RANKING]:
            values[agent][f"{criterion.name}.{spelling}"] = measure(spelling).values(judged)
    return values
