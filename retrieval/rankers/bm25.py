"""BM25 with Lucene's formula.

    score(q, d) = sum over terms t of q:  ln(1 + (N - n_t + 0.5) / (n_t + 0.5)) · f / (f + k1 · (1 - b + b · l_d / l))

where f is how often t occurs in d, n_t in how many of the N passages it occurs, l_d the terms of d and l their mean.
Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), equation 3.15, with the idf that
Lucene keeps above zero; computed by bm25s (Lù 2024, arXiv:2407.03618), which scores when it indexes.

The reference, rank-bm25's BM25Okapi, has another idf, ln((N - n_t + 0.5) / (n_t + 0.5)), with a floor of a quarter of
the mean idf under terms that more than half of the passages hold, and a factor k1 + 1. Where terms are rare both rank
alike; over a few passages of one subject they differ, and its scores can be zero or less, which it does not return.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from .analysis import Analyzer
from .bm25_index import TermCounts, count_terms, weigh
from .ranker import Ranking, at_least_kth, best_first

K1, B = 1.2, 0.75
"""Lucene's defaults."""

DIGITS = 6


class AnalyzedTexts:
    """`texts`, whose ids stand beside them, analysed and counted once, for the indexes of any number of (k1, b)."""

    def __init__(self, ids: Sequence[str], texts: Iterable[str], analyze: Analyzer) -> None:
        self.ids, self.analyze = ids, analyze
        self.counted: TermCounts = count_terms(texts, analyze)


class Bm25:
    """BM25 over `texts`, whose ids stand beside them; only passages that share a term with the query are returned.

    Scores are sums in double precision, rounded to 6 decimals; equal scores are in the order of ids. `k1` is 0 or more,
    `b` 0 to 1.
    """

    rounded = False

    def __init__(
        self, ids: Sequence[str], texts: Iterable[str], analyze: Analyzer, *, k1: float = K1, b: float = B
    ) -> None:
        self._weigh(AnalyzedTexts(ids, texts, analyze), k1, b)

    @classmethod
    def over(cls, analyzed: AnalyzedTexts, *, k1: float = K1, b: float = B) -> Self:
        """The same over texts that were analysed before; only the weights are made."""
        made = cls.__new__(cls)
        made._weigh(analyzed, k1, b)
        return made

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The at most `k` (1 or more) best passages for each query; none where no term of the query is known."""
        return [self._ranking(terms, k) for terms in self._analyze(queries)]

    def search_weighted(self, queries: Sequence[Mapping[str, float]], k: int) -> list[Ranking]:
        """The same for queries whose terms, as analysed, have weights (0 or more): what a term gives is multiplied."""
        return [self._weighted_ranking(weights, k) for weights in queries]

    def _weigh(self, analyzed: AnalyzedTexts, k1: float, b: float) -> None:
        self._ids, self._analyze = analyzed.ids, analyzed.analyze
        self._vocabulary = analyzed.counted.vocabulary
        self._index = weigh(analyzed.counted, k1, b, rounded=self.rounded)

    def _ranking(self, terms: list[str], k: int) -> Ranking:
        known = [self._vocabulary[term] for term in terms if term in self._vocabulary]
        if not known:
            return []
        return _positive(self._ids, self._index.get_scores_from_ids(known), k)

    def _weighted_ranking(self, weights: Mapping[str, float], k: int) -> Ranking:
        known = {self._vocabulary[term]: weight for term, weight in weights.items() if term in self._vocabulary}
        if not known:
            return []
        matrix = self._index.scores
        scores = np.zeros(matrix["num_docs"])
        for term, weight in sorted(known.items()):
            column = slice(matrix["indptr"][term], matrix["indptr"][term + 1])
            scores[matrix["indices"][column]] += weight * matrix["data"][column]
        return _positive(self._ids, scores, k)


class LuceneBm25(Bm25):
    """The same with the passages' lengths as Lucene's index keeps them, in one byte (`lucene_lengths`)."""

    rounded = True


class RankBm25:
    """The reference: BM25Okapi of rank-bm25, with the same terms and parameters as `Bm25`."""

    def __init__(
        self, ids: Sequence[str], texts: Iterable[str], analyze: Analyzer, *, k1: float = K1, b: float = B
    ) -> None:
        from rank_bm25 import BM25Okapi

        self._ids, self._analyze = ids, analyze
        terms = analyze(list(texts))
        self._index = BM25Okapi(terms, k1=k1, b=b) if any(terms) else None

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The at most `k` (1 or more) best passages with a score above zero for each query."""
        if self._index is None:
            return [[] for _ in queries]
        return [_positive(self._ids, self._index.get_scores(terms), k) for terms in self._analyze(queries)]


def _positive(ids: Sequence[str], scores: npt.NDArray[Any], k: int) -> Ranking:
    found = at_least_kth(scores, k, 10.0**-DIGITS)
    found = found[scores[found] > 0]
    return best_first(ids, scores[found], found, k, DIGITS)
