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

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ragassay.errors import InputError
from ragassay.files import read_text
from ragassay.text import plain

from .analysis import STOP_WORDS, Analyzer, language_code, make_analyzer, make_lucene_english, rounded_lengths
from .ranker import Material, Ranker, Ranking, best_above_zero

_AT_A_TIME = 8192  # passages whose terms are held as text
_WEIGHED_AT_A_TIME = 1 << 20  # pairs of term and passage

Ints = npt.NDArray[np.int32]


class _Part(NamedTuple):
    """Consecutive passages: each (term, passage) that there is once, by term and then passage, and how often."""

    terms: Ints
    passages: Ints
    counts: Ints


@dataclass(frozen=True, eq=False)
class TermCounts:
    """Which terms are in which texts: column t is `passages[starts[t]:starts[t + 1]]`, with `counts` beside it.

    bm25s wants every term of every passage at once, as lists; over a million passages these take more memory than the
    index. Here a few thousand passages at a time become arrays of (passage, term, frequency), and those the columns of
    bm25s' matrix, to the last bit. What k1 and b make of these are the scores (`weigh`), so that texts analysed once
    serve every k1 and b.

    vocabulary: the number of each term. passages: numbers of texts, ascending in a column. starts: (terms + 1,).
    lengths: how many terms each text has.
    """

    vocabulary: dict[str, int]
    passages: Ints
    counts: Ints
    starts: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]

    @property
    def held_by(self) -> npt.NDArray[np.int64]:
        """How many texts hold each term."""
        return np.diff(self.starts)


def count_terms(texts: Iterable[str], analyze: Analyzer, vocabulary: dict[str, int] | None = None) -> TermCounts:
    """The terms of `texts`, gone through once; `vocabulary` gets the new ones."""
    vocabulary = {} if vocabulary is None else vocabulary
    parts: list[_Part] = []
    lengths: list[int] = []
    waiting = iter(texts)
    number = vocabulary.setdefault
    while batch := list(islice(waiting, _AT_A_TIME)):
        rows = analyze(batch)
        n, first = len(rows), len(lengths)
        terms = np.fromiter((number(term, len(vocabulary)) for row in rows for term in row), np.int64)
        passages = np.repeat(np.arange(n, dtype=np.int64), list(map(len, rows)))
        pairs, counts = np.unique(terms * n + passages, return_counts=True)
        parts.append(_Part(*(one.astype(np.int32) for one in (pairs // n, pairs % n + first, counts))))
        lengths += map(len, rows)
    return _columns(parts, vocabulary, np.array(lengths, np.int64))


def weigh(counted: TermCounts, k1: float, b: float, *, rounded: bool = False) -> Any:
    """A `bm25s.BM25` (method lucene, float64) of what was counted; None where there is no term.

    The passages' numbers are those of `counted`, not a copy. rounded: whether lengths are those of Lucene's index.
    """
    if not counted.vocabulary:
        return None
    import bm25s

    index = bm25s.BM25(k1=k1, b=b, method="lucene", dtype="float64", backend="numpy")
    index.scores = {
        "data": _weights(counted, k1, b, rounded),
        "indices": counted.passages,
        "indptr": counted.starts,
        "num_docs": len(counted.lengths),
    }
    index.vocab_dict, index.unique_token_ids_set = counted.vocabulary, set(counted.vocabulary.values())
    index.nonoccurrence_array = None
    return index


def _columns(parts: list[_Part], vocabulary: dict[str, int], lengths: npt.NDArray[np.int64]) -> TermCounts:
    """The parts, which are used up, as one. A part's rows of a term follow those of the part before."""
    n_terms = len(vocabulary)
    held_by = sum((np.bincount(part.terms, minlength=n_terms) for part in parts), np.zeros(n_terms, np.int64))
    starts = np.concatenate([[0], np.cumsum(held_by)]).astype(np.int64)
    passages, counts, heads = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int32), starts[:-1].copy()
    parts.reverse()
    while parts:
        part = parts.pop()
        in_part = np.bincount(part.terms, minlength=n_terms)
        rank = np.arange(len(part.terms)) - np.repeat(np.cumsum(in_part) - in_part, in_part)
        places = heads[part.terms] + rank
        passages[places], counts[places] = part.passages, part.counts
        heads += in_part
    return TermCounts(vocabulary, passages, counts, starts, lengths)


def _weights(counted: TermCounts, k1: float, b: float, rounded: bool) -> npt.NDArray[np.float64]:
    """The score that each term gives each passage that holds it, beside `counted.passages`."""
    lengths = rounded_lengths(counted.lengths) if rounded else counted.lengths
    n, mean = len(lengths), counted.lengths.mean()
    held_by, which = np.unique(counted.held_by, return_inverse=True)
    # by math.log as in bm25s: NumPy's may differ in the last bit
    idf = np.array([math.log(1 + (n - df + 0.5) / (df + 0.5)) for df in held_by.tolist()])[which]
    data = np.empty(len(counted.passages))
    for start in range(0, len(data), _WEIGHED_AT_A_TIME):
        stop = min(start + _WEIGHED_AT_A_TIME, len(data))
        terms = np.searchsorted(counted.starts, np.arange(start, stop), side="right") - 1
        counts, length = counted.counts[start:stop].astype(np.float64), lengths[counted.passages[start:stop]]
        data[start:stop] = idf[terms] * (counts / (k1 * ((1 - b) + b * length / mean) + counts))
    return data


K1, B = 1.2, 0.75
"""Lucene's defaults."""

DIGITS = 6


class TermRanker(Ranker):
    """A ranker by terms, which can be given weights."""

    @abstractmethod
    def search_weighted(self, queries: Sequence[Mapping[str, float]], k: int) -> list[Ranking]:
        """The at most `k` best passages for queries whose terms, as analysed, have weights (0 or more)."""


class AnalyzedTexts:
    """`texts`, whose ids stand beside them, analysed and counted once, for the indexes of any number of (k1, b)."""

    def __init__(self, ids: Sequence[str], texts: Iterable[str], analyze: Analyzer) -> None:
        self.ids, self.analyze = ids, analyze
        self.counted: TermCounts = count_terms(texts, analyze)


class Bm25(TermRanker):
    """BM25 over `texts`, whose ids stand beside them; only passages that share a term with the query are returned.

    Scores are sums in double precision, rounded to 6 decimals; equal scores are in the order of ids. `k1` is 0 or more,
    `b` 0 to 1.
    """

    name = "bm25"
    rounded = False

    def __init__(
        self, ids: Sequence[str], texts: Iterable[str], analyze: Analyzer, *, k1: float = K1, b: float = B
    ) -> None:
        self._weigh(AnalyzedTexts(ids, texts, analyze), k1, b)

    @classmethod
    def over(cls, material: Material) -> Ranker:
        """By the settings `lexical` and `engine`: "bm25s", "lucene" or "rank-bm25". Raises InputError for another."""
        engines: dict[str, type[Bm25 | RankBm25]] = {"bm25s": Bm25, "lucene": LuceneBm25, "rank-bm25": RankBm25}
        engine, lexical = material.settings.get("engine", "bm25s"), material.settings.get("lexical", Lexical())
        if engine not in engines:
            raise InputError(f"unknown BM25 engine '{plain(engine)}'", remedy=f"use one of {', '.join(engines)}")
        analyze = lexical.make_analyzer(material.language)
        return engines[engine](material.ids, material.texts, analyze, k1=lexical.k1, b=lexical.b)

    @classmethod
    def of_analyzed(cls, analyzed: AnalyzedTexts, *, k1: float = K1, b: float = B) -> Self:
        """The same over texts that were analysed before; only the weights are made."""
        made = cls.__new__(cls)
        made._weigh(analyzed, k1, b)
        return made

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The at most `k` (1 or more) best passages for each query; none where no term of the query is known."""
        found = []
        for terms in self._analyze(queries):
            ids = [self._vocabulary[term] for term in terms if term in self._vocabulary]
            found.append(best_above_zero(self._ids, self._index.get_scores_from_ids(ids), k, DIGITS) if ids else [])
        return found

    def search_weighted(self, queries: Sequence[Mapping[str, float]], k: int) -> list[Ranking]:
        """The same for queries whose terms, as analysed, have weights (0 or more): what a term gives is multiplied."""
        return [self._weighted_ranking(weights, k) for weights in queries]

    def _weigh(self, analyzed: AnalyzedTexts, k1: float, b: float) -> None:
        self._ids, self._analyze = analyzed.ids, analyzed.analyze
        self._vocabulary = analyzed.counted.vocabulary
        self._index = weigh(analyzed.counted, k1, b, rounded=self.rounded)

    def _weighted_ranking(self, weights: Mapping[str, float], k: int) -> Ranking:
        known = {self._vocabulary[term]: weight for term, weight in weights.items() if term in self._vocabulary}
        if not known:
            return []
        matrix = self._index.scores
        scores = np.zeros(matrix["num_docs"])
        for term, weight in sorted(known.items()):
            column = slice(matrix["indptr"][term], matrix["indptr"][term + 1])
            scores[matrix["indices"][column]] += weight * matrix["data"][column]
        return best_above_zero(self._ids, scores, k, DIGITS)


class LuceneBm25(Bm25):
    """The same with the passages' lengths as Lucene's index keeps them, in one byte (`rounded_lengths`)."""

    rounded = True


class RankBm25(Ranker):
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
        scores = map(self._index.get_scores, self._analyze(queries))
        return [best_above_zero(self._ids, one, k, DIGITS) for one in scores]


AnalyzerName = Literal["by-language", "lucene-english"]
"""Ours (`analysis`), or Lucene's EnglishAnalyzer to the letter."""


@dataclass(frozen=True)
class Lexical:
    """What shapes BM25's ranking. stop_words: a file of words, one a line, in place of the analyzer's own.

    k1 is 0 or more, b from 0 to 1. Making one raises InputError where they are not.
    """

    analyzer: AnalyzerName = "by-language"
    stop_words: Path | None = None
    k1: float = K1
    b: float = B

    def __post_init__(self) -> None:
        if not (isfinite(self.k1) and self.k1 >= 0):
            raise InputError(f"k1 is {self.k1:g}", remedy="give 0 or more")
        if not 0 <= self.b <= 1:
            raise InputError(f"b is {self.b:g}", remedy="give a number from 0 to 1")

    def make_analyzer(self, language: str) -> Analyzer:
        """The analyzer. Raises InputError for an unknown language, for one that is not English under a name that says
        so, and for a file that holds no stop words."""
        words = None if self.stop_words is None else read_stop_words(self.stop_words)
        if self.analyzer == "by-language":
            return make_analyzer(language, stop_words=words)
        if language_code(language) != "en":
            raise InputError(f"{self.analyzer} is for English, and the language is '{plain(language)}'")
        return make_lucene_english(STOP_WORDS if words is None else words)


def read_stop_words(path: Path) -> frozenset[str]:
    """The words of a file, one a line, in lower case; an empty line is none. Raises InputError with the line."""
    words: set[str] = set()
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if len(parts := line.split()) > 1:
            raise InputError(f"has {len(parts)} words, stop words stand one a line", file=path, line=number)
        words.update(word.lower() for word in parts)
    if not words:
        raise InputError("holds no stop words", file=path, remedy="write one a line")
    return frozenset(words)


PASSAGES, TERMS, WEIGHT = 10, 10, 0.5

_LARGEST_SHARE = 0.1  # of the passages that may hold a term that is added
_SHORTEST = 2  # characters


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


class Rm3(Ranker):
    """`bm25` searched by queries expanded by `feedback`, which is of the same texts.

    Lavrenko and Croft, Relevance-Based Language Models (SIGIR 2001), interpolated with the query as in Abdul-Jaleel et
    al., UMass at TREC 2004: Novelty and HARD:

        weight(t) = λ · P(t | query) + (1 - λ) · P(t | relevant)

    P(t | relevant) is, over the passages that BM25 finds first, the sum of (share of t in the passage · score of the
    passage), cut to the highest terms and scaled to a sum of 1. As in Anserini's Rm3Reranker, whose defaults these are,
    a passage is cut to its most frequent terms first, terms that more than a tenth of the passages hold are left out
    (stop words hurt RM3), as are those of one character, and BM25's score takes the place of the query likelihood.
    Unlike there, terms are not restricted to a-z and 0-9 and 20 characters, since identifiers and other scripts matter
    here, and equal weights are in the order of terms. It needs the weights of terms, so it expands BM25 alone; a hybrid
    fuses an expanded one with the others.

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
        expanded, own = [], self._weight
        for terms, first in rows:
            query, relevant = _scaled(Counter(terms)), self._relevance_model(first)
            every = sorted({*query, *relevant})
            both = {term: own * query.get(term, 0) + (1 - own) * relevant.get(term, 0) for term in every}
            expanded.append(both if relevant else query)
        return expanded

    def _relevance_model(self, found: Ranking) -> dict[str, float]:
        parts: dict[str, list[float]] = {}
        for identifier, score in found:
            for term, share in _scaled(_highest(self._feedback.terms(identifier), self._terms)).items():
                parts.setdefault(term, []).append(share * score)
        return _scaled(_highest({term: math.fsum(shares) for term, shares in parts.items()}, self._terms))


def _highest(weights: Mapping[str, float], n: int) -> dict[str, float]:
    return dict(sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))[:n])


def _scaled(weights: Mapping[str, float]) -> dict[str, float]:
    total = math.fsum(weights.values())
    return {term: weight / total for term, weight in weights.items()} if total > 0 else {}
