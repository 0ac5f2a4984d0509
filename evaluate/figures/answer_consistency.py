"""Consistency: how far the answers of several runs to one query agree, and how far the measures of them vary.

Between every two runs, BERTScore's F1 and ROUGE-1, -2 and -L; of each run, what the evaluators gave it. Of every one
the mean, the variance (sample, divisor n - 1) and the coefficient of variation, sd / |mean|, per query and averaged
over queries. After Open RAG Eval's ConsistencyEvaluator (vectara/open-rag-eval, evaluators/consistency_evaluator.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import sqrt
from typing import Literal

import numpy as np
from pydantic import Field

from ragassay.arrays import Singles
from ragassay.records import Figure, Record

from ..inputs.clusters import ALONE, Clusters
from ..statistics.clustered import Range
from ..statistics.resamples import DIGITS, Resamples, resamples
from ..texts.bert_score import bert_score
from ..texts.rouge import ROUGES, rouge

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
        spreads += [spread for group in chunk for spread in _spreads(group, vectors)]
    draws = resamples([group.query_id for group in groups], 1, 0, clusters)
    return Consistency(
        embedding=embedding,
        n_runs=max((len(group.answers) for group in groups), default=0),
        agents=_agents(spreads, draws, {**PAIRWISE, **(scales or {})}),
        queries=tuple(spreads),
    )


def _spreads(group: Runs, vectors: Mapping[str, Singles]) -> Iterator[Spread]:
    pairs = [_pair(one, other, vectors) for one, other in combinations(group.answers, 2)]
    for measure in PAIRWISE:
        yield spread(group, measure, "pairs", tuple(pair[measure] for pair in pairs))
    for measure, values in group.metrics.items():
        yield spread(group, measure, "runs", values)


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


def _agents(
    spreads: Sequence[Spread], draws: Resamples, scales: Mapping[str, Range]
) -> dict[str, dict[str, AgentSpread]]:
    grouped: dict[str, dict[str, list[Spread]]] = {}
    for one in spreads:
        grouped.setdefault(one.agent, {}).setdefault(one.measure, []).append(one)
    return {
        agent: {measure: _agent_spread(rows, draws, scales.get(measure)) for measure, rows in measures.items()}
        for agent, measures in grouped.items()
    }


def _agent_spread(rows: Sequence[Spread], draws: Resamples, scale: Range | None) -> AgentSpread:
    return AgentSpread(
        mean=draws.figure({row.query_id: row.mean for row in rows}, scale),
        variance=draws.figure({row.query_id: row.variance for row in rows}),
        cv=draws.figure({row.query_id: row.cv for row in rows}),
        n_values=sum(row.n for row in rows),
        n_values_failed=sum(row.n_failed for row in rows),
    )
