"""Consistency: how far the answers of several runs to one query agree, and how far the measures of them vary.

Between every two runs, BERTScore's F1 and ROUGE-1, -2 and -L; of each run, what the evaluators gave it. Of every one
the mean, the variance (sample, divisor n - 1) and the coefficient of variation, sd / |mean|, per query and averaged
over queries. After Open RAG Eval's ConsistencyEvaluator (vectara/open-rag-eval, evaluators/consistency_evaluator.py).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import sqrt
from typing import Any, Literal

import numpy as np
from pydantic import Field

from ragassay.arrays import Singles
from ragassay.records import Assessment, Figure, Judgment, Query, Record, grouped, kind_of
from ragassay.text import one_line, some_of

from ..inputs.clusters import ALONE, Clusters, source_clusters
from ..inputs.findings import Findings, pairs_of
from ..inputs.labels import HIGHEST
from ..judging.engine.evaluator import DEFAULT, Evaluator, Thresholds, good_enough, thresholds_of
from ..results import Perturbed, Problem
from ..statistics.clustered import Range
from ..statistics.resamples import DIGITS, Resamples, resamples
from ..texts.by_model import bert_score
from ..texts.sentences import ROUGES, rouge

BERT = "bert_score"
PAIRWISE: Mapping[str, Range] = {BERT: (-1.0, 1.0), **dict.fromkeys(ROUGES, (0.0, 1.0))}
"""The measures between two runs, and their scales."""

CHUNK = 64
"""Queries whose token vectors are held at a time."""

RunValues = tuple[float | None, ...]
"""Of each run, or each pair of runs; None where it failed."""

Encode = Callable[[Sequence[str]], Mapping[str, Singles]]


@dataclass(frozen=True)
class Runs:
    """The answers of an agent to one query, run by run, None for one that failed; metrics: name to each run's value."""

    query_id: str
    agent: str
    answers: tuple[str | None, ...]
    metrics: Mapping[str, RunValues] = field(default_factory=dict)


class Spread(Record):
    """One measure of the runs of one query: its values over runs (run 1 first) or pairs (1-2, 1-3, ..., 2-3, ...).

    n values are known, n_failed are not. mean: of those known; variance and cv from two values on. None: undefined,
    as is the coefficient of variation (`cv`) of a mean of 0.
    """

    query_id: str
    agent: str
    measure: str
    over: Literal["runs", "pairs"]
    values: RunValues
    n: int
    n_failed: int
    mean: float | None
    variance: float | None
    cv: float | None


class AgentSpread(Record):
    """A measure's spread over all queries: the mean of each query's mean, variance and coefficient of variation.

    n: queries with a value, n_failed: those where it is undefined. n_values, n_values_failed: of all runs or pairs.
    """

    mean: Figure
    variance: Figure
    cv: Figure
    n_values: int
    n_values_failed: int


class Consistency(Record):
    """`consistency.json`. embedding: the model of BERTScore; agents: agent to measure to its spread.

    inputs: file to SHA-256 of what it was made from, of an experiment.
    """

    embedding: str
    n_runs: int
    agents: dict[str, dict[str, AgentSpread]]
    queries: tuple[Spread, ...]
    inputs: dict[str, str] = Field(default_factory=dict)


def measure_consistency(
    groups: Sequence[Runs],
    encode: Encode,
    embedding: str,
    scales: Mapping[str, Range] | None = None,
    clusters: Clusters = ALONE,
) -> Consistency:
    """The spread of every measure. encode: texts to their token vectors; scales: of the runs' own metrics.

    clusters: of the queries, taken together in the intervals.
    """
    spreads: list[Spread] = []
    for start in range(0, len(groups), CHUNK):
        chunk = groups[start : start + CHUNK]
        vectors = encode([text for group in chunk for text in group.answers if text is not None])
        for group in chunk:
            pairs = [_pair(one, other, vectors) for one, other in combinations(group.answers, 2)]
            spreads += [spread(group, one, "pairs", tuple(pair[one] for pair in pairs)) for one in PAIRWISE]
            spreads += [spread(group, measure, "runs", values) for measure, values in group.metrics.items()]
    draws = resamples([group.query_id for group in groups], 1, 0, clusters)
    ends = {**PAIRWISE, **(scales or {})}
    agents: dict[str, dict[str, AgentSpread]] = {}
    for (agent, measure), rows in grouped(((one.agent, one.measure), one) for one in spreads).items():
        agents.setdefault(agent, {})[measure] = AgentSpread(
            mean=draws.figure({row.query_id: row.mean for row in rows}, ends.get(measure)),
            variance=draws.figure({row.query_id: row.variance for row in rows}),
            cv=draws.figure({row.query_id: row.cv for row in rows}),
            n_values=sum(row.n for row in rows),
            n_values_failed=sum(row.n_failed for row in rows),
        )
    return Consistency(
        embedding=embedding,
        n_runs=max((len(group.answers) for group in groups), default=0),
        agents=agents,
        queries=tuple(spreads),
    )


def _pair(one: str | None, other: str | None, vectors: Mapping[str, Singles]) -> dict[str, float | None]:
    if one is None or other is None:
        return dict.fromkeys(PAIRWISE)
    near = bert_score(vectors[one], vectors[other])
    return {BERT: near.f1 if near else None, **rouge(one, other)}


def spread(group: Runs, measure: str, over: Literal["runs", "pairs"], values: RunValues) -> Spread:
    """Mean, variance and coefficient of variation of the values there are."""
    known = [value for value in values if value is not None]
    mean = float(np.mean(known)) if known else None
    variance = float(np.var(known, ddof=1)) if len(known) > 1 else None
    cv = sqrt(variance) / abs(mean) if variance is not None and mean else None
    return Spread(
        query_id=group.query_id,
        agent=group.agent,
        measure=measure,
        over=over,
        values=tuple(_kept(value) for value in values),
        n=len(known),
        n_failed=len(values) - len(known),
        mean=_kept(mean),
        variance=_kept(variance),
        cv=_kept(cv),
    )


def _kept(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


ALL = "all"

_SHOWN = 3
"""Cases that a problem names."""

Good = Mapping[tuple[str, str], bool | None]
"""(query, agent) to whether the answer is good enough; None where that could not be judged."""


def robustness(
    findings: Findings,
    rows: Sequence[Assessment],
    evaluators: Sequence[Evaluator],
    agents: Sequence[str],
    given: Thresholds | None = None,
) -> Perturbed | None:
    """The flips of each agent, of the judge's criteria and of those by which evaluators judge answers.

    Good enough is a label from the criterion's threshold on (by its direction): the user's, its own, or the default of
    `judging/engine/evaluator.py`; of the judge's criteria three quarters of the scale. What has no threshold has no
    flips.

    given: the user's thresholds. None where no perturbed query has its original beside it.
    """
    names = [row.criterion for row in findings.pointwise]
    thresholds = dict.fromkeys(names, DEFAULT * HIGHEST) | answer_thresholds(evaluators, given)
    lower = [one.name for judge in evaluators for one in judge.criteria if one.lower_is_better]
    return flips_of(findings.material.queries, (*findings.pointwise, *rows), thresholds, lower, agents)


def answer_thresholds(evaluators: Sequence[Evaluator], given: Thresholds | None = None) -> dict[str, float]:
    """Criterion to threshold, of those by which evaluators judge answers."""
    return thresholds_of([one for one in evaluators if one.unit != "passage"], given)


def flips_of(
    queries: Sequence[Query],
    rows: Sequence[Judgment],
    thresholds: Mapping[str, float],
    lower_is_better: Sequence[str],
    agents: Sequence[str],
) -> Perturbed | None:
    """The flips of each agent by every criterion of `thresholds`; None where there is no pair of queries."""
    pairs, kinds = pairs_of(queries), {query.id: kind_of(query) for query in queries}
    if not pairs:
        return None
    labels: dict[str, dict[tuple[str, str], float | None]] = defaultdict(dict)
    for row in rows:
        labels[row.criterion][row.query_id, row.subject] = row.label
    known = {name: threshold for name, threshold in thresholds.items() if labels[name]}
    draws = resamples([query.id for query in queries], 1, 0, source_clusters(queries))
    flips, worse, flipped = ({agent: dict[str, Any]() for agent in agents} for _ in range(3))
    for name, threshold in known.items():
        lower = name in lower_is_better
        good = {
            key: None if label is None else good_enough(label, threshold, lower_is_better=lower)
            for key, label in labels[name].items()
        }
        for agent in agents:
            owing = {new: old for new, old in pairs.items() if (new, agent) in good or (old, agent) in good}
            if owing:
                flips[agent][name] = _figures(owing, kinds, good, agent, draws, worse_only=False)
                worse[agent][name] = _figures(owing, kinds, good, agent, draws, worse_only=True)
                flipped[agent][name] = tuple(
                    new
                    for new, old in owing.items()
                    if {good.get((new, agent)), good.get((old, agent))} == {True, False}
                )
    return Perturbed(
        n_originals=len(set(pairs.values())),
        kinds=dict(sorted(Counter(kinds[query] for query in pairs).items())),
        thresholds=known,
        lower_is_better=tuple(name for name in known if name in lower_is_better),
        flips=flips,
        worse=worse,
        flipped=flipped,
    )


def flip_problems(found: Perturbed) -> Iterator[Problem]:
    """A problem of each agent and criterion with a flip, which names the first cases."""
    for agent, named in found.flipped.items():
        for name, cases in named.items():
            if not cases:
                continue
            figure, worse = found.flips[agent][name][ALL], found.worse[agent][name][ALL]
            lost = round((worse.value or 0.0) * worse.n)
            shown = some_of(map(one_line, cases), _SHOWN)
            lacking = "1 pair lacks" if figure.n_failed == 1 else f"{figure.n_failed} pairs lack"
            failed = f"; {lacking} a label" if figure.n_failed else ""
            sentence = (
                f"{one_line(agent)}: {len(cases)} of {figure.n} answers cross the threshold of {one_line(name)}, "
                f"{found.thresholds[name]:g}, when their question is asked in changed words, {lost} of them for the "
                f"worse ({shown}){failed}."
            )
            yield Problem(kind="flips", agent=agent, criterion=name, figure=figure, sentence=sentence)


def _figures(
    pairs: Mapping[str, str], kinds: Mapping[str, str], good: Good, agent: str, draws: Resamples, *, worse_only: bool
) -> dict[str, Figure]:
    """Of all perturbations, then of each kind by its name."""
    by_kind = {kind: [new for new in pairs if kinds[new] == kind] for kind in sorted({kinds[new] for new in pairs})}
    made = {}
    for kind, queries in {ALL: list(pairs), **by_kind}.items():
        sums, counts, failed = defaultdict[str, float](float), defaultdict[str, float](float), 0
        for new in queries:
            before, after = good.get((pairs[new], agent)), good.get((new, agent))
            if before is None or after is None:
                failed += 1
                continue
            counts[pairs[new]] += 1
            sums[pairs[new]] += before and not after if worse_only else before != after
        n = int(sum(counts.values()))
        made[kind] = draws.ratio(sums, counts, n=n, n_failed=failed, limits=(0.0, 1.0))
    return made
