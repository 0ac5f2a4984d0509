"""RM3: the query with terms of its best passages added, each with a weight.

Lavrenko and Croft, Relevance-Based Language Models (SIGIR 2001), interpolated with the query as in Abdul-Jaleel et al.,
UMass at TREC 2004: Novelty and HARD:

    weight(t) = λ · P(t | query) + (1 - λ) · P(t | relevant)

P(t | relevant) is, over the passages that BM25 finds first, the sum of (share of t in the passage · score of the
passage), cut to the highest terms and scaled to a sum of 1. As in Anserini's Rm3Reranker, whose defaults these are, a
passage is cut to its most frequent terms first, terms that more than a tenth of the passages hold are left out (stop
words hurt RM3), as are those of one character, and BM25's score takes the place of the query likelihood. Unlike there,
terms are not restricted to a-z and 0-9 and 20 characters, since identifiers and other scripts matter here, and equal
weights are in the order of terms.

It needs the weights of terms, so it expands BM25 alone; a hybrid fuses an expanded one with the others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from .bm25 import AnalyzedTexts
from .ranker import Ranker, Ranking

PASSAGES, TERMS, WEIGHT = 10, 10, 0.5

_LARGEST_SHARE = 0.1  # of the passages that may hold a term that is added
_SHORTEST = 2  # characters


class TermRanker(Ranker, Protocol):
    """A ranker by terms, which can be given weights."""

    def search_weighted(self, queries: Sequence[Mapping[str, float]], k: int) -> list[Ranking]:
        """The at most `k` best passages for queries whose terms, as analysed, have weights (0 or more)."""
        ...


class FeedbackTerms:
    """What each of the texts may add to a query: its terms and how often; made once for any number of `Rm3`."""

    def __init__(self, analyzed: AnalyzedTexts) -> None:
        counted = analyzed.counted
        self.analyze, self._names = analyzed.analyze, list(counted.vocabulary)
        self._numbers = {identifier: number for number, identifier in enumerate(analyzed.ids)}
        long_enough = np.array([len(name) >= _SHORTEST for name in self._names], np.bool_)
        kept = (counted.held_by <= _LARGEST_SHARE * len(counted.lengths)) & long_enough
        columns = np.repeat(np.arange(len(self._names), dtype=np.int32), counted.held_by)
        chosen = np.flatnonzero(kept[columns])
        chosen = chosen[np.argsort(counted.passages[chosen], kind="stable")]
        self._columns, self._counts = columns[chosen], counted.counts[chosen]
        self._starts = np.searchsorted(counted.passages[chosen], np.arange(len(counted.lengths) + 1))

    def terms(self, identifier: str) -> dict[str, float]:
        """Of the passage of that id."""
        passage = self._numbers[identifier]
        rows = slice(self._starts[passage], self._starts[passage + 1])
        pairs = zip(self._columns[rows].tolist(), self._counts[rows].tolist(), strict=True)
        return {self._names[column]: float(count) for column, count in pairs}


class Rm3:
    """`bm25` searched by queries expanded by `feedback`, which is of the same texts.

    passages: how many of the first search are taken for relevant. terms: how many are added. weight: λ, of the query's
    own, 0 to 1. A query of which nothing is found stays as it is.
    """

    def __init__(
        self,
        bm25: TermRanker,
        feedback: FeedbackTerms,
        *,
        passages: int = PASSAGES,
        terms: int = TERMS,
        weight: float = WEIGHT,
    ) -> None:
        self._bm25, self._feedback = bm25, feedback
        self._passages, self._terms, self._weight = passages, terms, weight

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The at most `k` best passages for each expanded query."""
        return self._bm25.search_weighted(self.expanded(queries), k)

    def expanded(self, queries: Sequence[str]) -> list[dict[str, float]]:
        """The terms of each expanded query, as analysed, with their weights, which sum to 1 (or none)."""
        found = self._bm25.search(queries, self._passages)
        rows = zip(self._feedback.analyze(queries), found, strict=True)
        return [self._interpolated(_scaled(Counter(terms)), self._relevance_model(first)) for terms, first in rows]

    def _relevance_model(self, found: Ranking) -> dict[str, float]:
        parts: dict[str, list[float]] = {}
        for identifier, score in found:
            for term, share in _scaled(_highest(self._feedback.terms(identifier), self._terms)).items():
                parts.setdefault(term, []).append(share * score)
        return _scaled(_highest({term: math.fsum(shares) for term, shares in parts.items()}, self._terms))

    def _interpolated(self, query: Mapping[str, float], relevant: Mapping[str, float]) -> dict[str, float]:
        if not relevant:
            return dict(query)
        weight = self._weight
        terms = sorted({*query, *relevant})
        return {term: weight * query.get(term, 0) + (1 - weight) * relevant.get(term, 0) for term in terms}


def _highest(weights: Mapping[str, float], n: int) -> dict[str, float]:
    return dict(sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))[:n])


def _scaled(weights: Mapping[str, float]) -> dict[str, float]:
    total = math.fsum(weights.values())
    return {term: weight / total for term, weight in weights.items()} if total > 0 else {}
