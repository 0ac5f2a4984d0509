"""nDCG@10 of every retriever on every query."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from benchmarks.question_worth.collection import Asked
from ragassay.evaluate.measures.measure import by_query
from ragassay.evaluate.validity.questions import Scores
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
