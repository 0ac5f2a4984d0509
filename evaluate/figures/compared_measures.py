"""The measures on which agents are compared, each with every agent's value a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..inputs.findings import Findings
from ..inputs.sections import source_sections
from ..ratings.verdicts import Verdict
from ..ratings.win_table import win_rate_by_query
from ..results import WIN_RATE, Comparison
from ..statistics.clustered import (
    Values,
)
from ..statistics.paired_comparison import compare_all
from . import query_values
from .evaluator_values import Evaluations


@dataclass(frozen=True)
class Compared:
    """Agent to query to value; `width` is how far apart the worst and the best value are."""

    values: Mapping[str, Values]
    width: float


def compared(
    findings: Findings,
    k: int,
    retrieval: Mapping[str, Mapping[str, Values]],
    pointwise: Mapping[str, Mapping[str, Values]],
    found: Sequence[Verdict],
) -> dict[str, Compared]:
    """Measure to values: MRR at both levels, each criterion, and the share of its games that an agent won a query."""
    names = list(dict.fromkeys(name for row in pointwise.values() for name in row))
    table = {
        measure: Compared({agent: row[measure] for agent, row in retrieval.items() if measure in row}, 1.0)
        for measure in query_values.ranking_measures(k)[:2]
    }
    table |= {
        name: Compared({agent: row[name] for agent, row in pointwise.items()}, query_values.HIGHEST) for name in names
    }
    rates = {agent: win_rate_by_query(found, agent, findings.queries) for agent in findings.material.agents}
    return table | {WIN_RATE: Compared(rates, 1.0)}


def of_evaluations(evaluated: Evaluations) -> dict[str, Compared]:
    """What evaluators gave, each measure with the values of the agents that have it."""
    return {
        name: Compared({agent: row[name] for agent, row in evaluated.values.items() if name in row}, high - low)
        for name, (low, high) in evaluated.scales.items()
    }


def comparisons(
    findings: Findings, table: Mapping[str, Compared], order: Sequence[str], seed: int
) -> tuple[Comparison, ...]:
    """Every pair of agents on every measure; the first of a pair stands earlier in `order`."""
    sections = source_sections(findings.material.queries)
    rows: list[Comparison] = []
    for measure, one in table.items():
        values = {agent: one.values[agent] for agent in order if agent in one.values}
        rows += compare_all(measure, values, sections, width=one.width, seed=seed)
    return tuple(rows)
