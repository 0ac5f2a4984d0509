"""bm25s' index, made from texts as they come: what it holds is what `bm25s.BM25.index` would, to the last bit.

bm25s wants every term of every passage at once, as lists; over a million passages these take more memory than the
index. Here a few thousand passages at a time become arrays of (passage, term, frequency), and those the columns of
bm25s' matrix: for each term the passages that hold it, ascending, with their scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .analysis import Analyzer
from .lucene_lengths import rounded_lengths

_AT_A_TIME = 8192  # passages whose terms are held as text

Ints = npt.NDArray[np.int32]


class _Part(NamedTuple):
    """Consecutive passages: each (term, passage) that there is once, by term and then passage, and how often."""

    terms: Ints
    passages: Ints
    counts: Ints


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
    parts: list[_Part] = []
    lengths: list[int] = []
    for rows in _analyzed(texts, analyze):
        parts.append(_count(rows, vocabulary, len(lengths)))
        lengths += map(len, rows)
    if not vocabulary:
        return None
    import bm25s

    index = bm25s.BM25(k1=k1, b=b, method="lucene", dtype="float64", backend="numpy")
    index.scores = _matrix(parts, np.array(lengths, np.int64), len(vocabulary), k1, b, rounded)
    index.vocab_dict, index.unique_token_ids_set = vocabulary, set(vocabulary.values())
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


def _matrix(
    parts: list[_Part], lengths: npt.NDArray[np.int64], n_terms: int, k1: float, b: float, rounded: bool
) -> dict[str, Any]:
    """bm25s' columns; `parts` are used up. A part's rows of a term follow those of the part before."""
    held_by = sum((np.bincount(part.terms, minlength=n_terms) for part in parts), np.zeros(n_terms, np.int64))
    starts = np.concatenate([[0], np.cumsum(held_by)])
    data, indices = np.empty(starts[-1]), np.empty(starts[-1], np.int32)
    idf, mean, heads = _idf(held_by, len(lengths)), lengths.mean(), starts[:-1].copy()
    told = rounded_lengths(lengths) if rounded else lengths
    parts.reverse()
    while parts:
        part = parts.pop()
        in_part = np.bincount(part.terms, minlength=n_terms)
        rank = np.arange(len(part.terms)) - np.repeat(np.cumsum(in_part) - in_part, in_part)
        places = heads[part.terms] + rank
        counts, length = part.counts.astype(np.float64), told[part.passages]
        data[places] = idf[part.terms] * (counts / (k1 * ((1 - b) + b * length / mean) + counts))
        indices[places] = part.passages
        heads += in_part
    return {"data": data, "indices": indices, "indptr": starts.astype(np.int64), "num_docs": len(lengths)}


def _idf(held_by: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.float64]:
    """Of each term by how many of `n` passages hold it, by math.log as in bm25s: NumPy's may differ in the last bit."""
    values, which = np.unique(held_by, return_inverse=True)
    return np.array([math.log(1 + (n - df + 0.5) / (df + 0.5)) for df in values.tolist()])[which]
