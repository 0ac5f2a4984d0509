"""The measures on which agents are compared, each with every agent's value a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragassay.errors import InputError
from ragassay.text import listed, plain

from ..inputs.clusters import Clusters
from ..inputs.findings import Findings
from ..inputs.labels import HIGHEST
from ..ratings.verdicts import Verdict
from ..ratings.win_table import win_rates_by_query
from ..results import WIN_RATE, Comparison
from ..statistics.clustered import ByAgent, Values
from ..statistics.paired_comparison import compare_pairs
from . import query_values
from .evaluator_values import Evaluations


@dataclass(frozen=True)
class ComparedMeasure:
    """Agent to query to value; `width` is how far apart the worst and the best value are."""

    values: Mapping[str, Values]
    width: float


def of_findings(
    findings: Findings, k: int, retrieval: ByAgent, pointwise: ByAgent, found: Sequence[Verdict]
) -> dict[str, ComparedMeasure]:
    """Measure to values: MRR at both levels, each criterion, and the share of its games that an agent won a query."""
    names = list(dict.fromkeys(name for row in pointwise.values() for name in row))
    table = {
        measure: ComparedMeasure({agent: row[measure] for agent, row in retrieval.items() if measure in row}, 1.0)
        for measure in query_values.ranking_measures(k)[:2]
    }
    table |= {name: ComparedMeasure({agent: row[name] for agent, row in pointwise.items()}, HIGHEST) for name in names}
    rates = win_rates_by_query(found, findings.material.agents, findings.queries)
    return table | {WIN_RATE: ComparedMeasure(rates, 1.0)}


def of_evaluators(evaluated: Evaluations) -> dict[str, ComparedMeasure]:
    """What evaluators gave, each measure with the values of the agents that have it."""
    return {
        name: ComparedMeasure({agent: row[name] for agent, row in evaluated.values.items() if name in row}, high - low)
        for name, (low, high) in evaluated.scales.items()
    }


def with_all_that_matters(
    table: Mapping[str, ComparedMeasure], matters: Mapping[str, float]
) -> Mapping[str, ComparedMeasure]:
    """`table`. Raises InputError for a measure of `matters` that is not in it, with those that are."""
    for measure in matters:
        if measure not in table:
            raise InputError(
                f"compare.matters names '{plain(measure)}', which is not compared here",
                remedy=f"the measures are {listed(list(table))}",
            )
    return table


def compare_agents(
    table: Mapping[str, ComparedMeasure],
    order: Sequence[str],
    clusters: Clusters,
    seed: int,
    matters: Mapping[str, float],
) -> tuple[Comparison, ...]:
    """Every pair of agents on every measure; the first of a pair stands earlier in `order`.

    matters: measure to the smallest difference that matters.
    """
    rows: list[Comparison] = []
    for measure, one in table.items():
        values = {agent: one.values[agent] for agent in order if agent in one.values}
        rows += compare_pairs(measure, values, clusters, width=one.width, seed=seed, matters=matters.get(measure))
    return tuple(rows)
