"""bm25s' index, made from texts as they come: what it holds is what `bm25s.BM25.index` would, to the last bit.

bm25s wants every term of every passage at once, as lists; over a million passages these take more memory than the
index. Here a few thousand passages at a time become arrays of (passage, term, frequency), and those the columns of
bm25s' matrix: for each term the passages that hold it, ascending, with how often (`count_terms`). What k1 and b make of
these are the scores (`weigh`), so that texts analysed once serve every k1 and b.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .analysis import Analyzer
from .lucene_lengths import rounded_lengths

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


def build_index(
    texts: Iterable[str],
    analyze: Analyzer,
    vocabulary: dict[str, int],
    k1: float,
    b: float,
    *,
    rounded: bool = False,
) -> Any:
    """A `bm25s.BM25` of `texts` (method lucene, float64), and each new term in `vocabulary`; None where no term is.

    rounded: whether lengths are those of Lucene's index (`lucene_lengths`).
    """
    return weigh(count_terms(texts, analyze, vocabulary), k1, b, rounded=rounded)


def count_terms(texts: Iterable[str], analyze: Analyzer, vocabulary: dict[str, int] | None = None) -> TermCounts:
    """The terms of `texts`, gone through once; `vocabulary` gets the new ones."""
    vocabulary = {} if vocabulary is None else vocabulary
    parts: list[_Part] = []
    lengths: list[int] = []
    for rows in _analyzed(texts, analyze):
        parts.append(_count(rows, vocabulary, len(lengths)))
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


def _analyzed(texts: Iterable[str], analyze: Analyzer) -> Iterator[list[list[str]]]:
    waiting = iter(texts)
    while batch := list(islice(waiting, _AT_A_TIME)):
        yield analyze(batch)


def _count(rows: Sequence[Sequence[str]], vocabulary: dict[str, int], first: int) -> _Part:
    """The part of the passages from number `first` on, whose terms are `rows`."""
    number = vocabulary.setdefault
    terms = np.fromiter((number(term, len(vocabulary)) for row in rows for term in row), np.int64)
    passages = np.repeat(np.arange(len(rows), dtype=np.int64), [len(row) for row in rows])
    pairs, counts = np.unique(terms * len(rows) + passages, return_counts=True)
    return _Part(
        (pairs // max(1, len(rows))).astype(np.int32),
        (pairs % max(1, len(rows)) + first).astype(np.int32),
        counts.astype(np.int32),
    )


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
    mean, idf = counted.lengths.mean(), _idf(counted.held_by, len(lengths))
    data = np.empty(len(counted.passages))
    for start in range(0, len(data), _WEIGHED_AT_A_TIME):
        stop = min(start + _WEIGHED_AT_A_TIME, len(data))
        terms = np.searchsorted(counted.starts, np.arange(start, stop), side="right") - 1
        counts, length = counted.counts[start:stop].astype(np.float64), lengths[counted.passages[start:stop]]
        data[start:stop] = idf[terms] * (counts / (k1 * ((1 - b) + b * length / mean) + counts))
    return data


def _idf(held_by: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.float64]:
    """Of each term by how many of `n` passages hold it, by math.log as in bm25s: NumPy's may differ in the last bit."""
    values, which = np.unique(held_by, return_inverse=True)
    return np.array([math.log(1 + (n - df + 0.5) / (df + 0.5)) for df in values.tolist()])[which]
