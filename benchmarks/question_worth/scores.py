"""nDCG@10 of every retriever on every query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.question_worth.collection import Asked
from ragassay.arrays import Floats
from ragassay.evaluate.measures.measure import by_query
from ragassay.evaluate.statistics.clustered import interval
from ragassay.evaluate.statistics.resamples import rounded
from ragassay.evaluate.validity.questions import Scores
from ragassay.records import Figure
from ragassay.retrieval.rankers.ranker import Ranking

MEASURE = "nDCG@10"


def score(asked: Asked, rankings: Mapping[str, Mapping[str, Ranking]]) -> Scores:
    """The values of each retriever's rankings (retriever to text of a query to ranking), of these queries.

    A query for which nothing was found has 0.
    """
    rows = []
    for by_text in rankings.values():
        found = {query: by_text[text] for query, text in asked.texts.items() if by_text[text]}
        # The measure sorts by score alone: places keep equal scores in their order.
        ranked = {query: [(passage, -float(at)) for at, (passage, _) in enumerate(row)] for query, row in found.items()}
        values = by_query(MEASURE, asked.qrels, ranked)
        rows.append([values[query] for query in asked.texts])
    return Scores(np.array(rows), asked.clusters.of(list(asked.texts)), asked.n_failed)


def figures_of(scores: Scores, names: Sequence[str]) -> dict[str, Figure]:
    """Each retriever's mean, by name, with its clustered interval."""
    return {name: mean_of(scores, values) for name, values in zip(names, scores.values, strict=True)}


def mean_of(scores: Scores, values: Floats) -> Figure:
    """The mean of a value from 0 to 1 of each query, (queries,)."""
    value, low, high = interval(values, np.ones(scores.n), scores.clusters, (0.0, 1.0))
    return rounded(value, scores.n, scores.n_failed, low, high)
