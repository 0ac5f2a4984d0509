"""How many of a query's words stand in the passage that it is to find."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from benchmarks.question_worth.collection import Asked
from ragassay.arrays import Floats
from ragassay.records import Passage
from ragassay.retrieval.rankers.analysis import make_analyzer
from ragassay.retrieval.rankers.ranker import indexed_text


def shared_words(asked: Asked, passages: Mapping[str, Passage], language: str) -> Floats:
    """(queries,): the share, 0 to 1, of a query's distinct terms in its passage; where it has several, the largest.

    Terms are stems without stop words; a query that has none shares none. Raises InputError for an unknown language.
    """
    analyze = make_analyzer(language)
    found = []
    for query, terms in zip(asked.texts, analyze(list(asked.texts.values())), strict=True):
        relevant = [passages[p] for p, label in asked.qrels[query].items() if label > 0 and p in passages]
        held = analyze([indexed_text(passage) for passage in relevant])
        found.append(max(len({*terms} & {*row}) for row in held) / max(1, len({*terms})))
    return np.array(found)
