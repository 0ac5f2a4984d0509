"""Models by prompts on one measure and some queries: the report's heat map, of the queries that are looked at."""

from __future__ import annotations

import numpy as np

from ragassay.evaluate.report.evaluators.models_by_prompts import Grid, grid
from ragassay.evaluate.results import ModelByPrompt, Results
from ragassay.evaluate.statistics.clustered import Range, interval
from ragassay.evaluate.statistics.resamples import rounded
from ragassay.records import Figure

from ..index.read import Index
from .look import Look
from .test_set import TestSet, test_set


def crossed_look(index: Index, results: Results, found: Look) -> Grid | None:
    """None where the agents do not answer by two models and two prompts."""
    if not results.models_by_prompts:
        return None
    queries = test_set(index)
    means = [_mean(index, one, found, queries, found.measure.limits) for one in results.models_by_prompts]
    return grid(found.measure.name, results.models_by_prompts, means, lower_is_better=found.measure.lower_is_better)


def _mean(index: Index, one: ModelByPrompt, found: Look, queries: TestSet, limits: Range | None) -> Figure | None:
    """As `Resamples.mean` makes it: a query counts as often as it has values."""
    columns, owed = index.column(found.measure.name), index.owed(found.measure.name)
    agents = [agent for agent in one.agents if agent in columns]
    if not agents:
        return None
    chosen = np.isin(queries.by_id, found.places)
    at = queries.by_id[chosen]
    values = np.array([columns[agent][at] for agent in agents])
    known = ~np.isnan(values)
    n, n_failed = int(known.sum()), int((np.array([owed[agent][at] for agent in agents]) & ~known).sum())
    if not n:
        return Figure(value=None, n=0, n_failed=n_failed)
    sums, counts = np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0).astype(np.float64)
    value, low, high = interval(sums, counts, queries.clusters.where(chosen), limits)
    return rounded(value, n, n_failed, low, high)
