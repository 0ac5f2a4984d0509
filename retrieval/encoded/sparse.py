"""Learned sparse retrieval: a model weighs the terms of queries and passages, and a score is the sum of products.

Formal, Piwowarski and Clinchant, SPLADE: Sparse Lexical and Expansion Model for First Stage Ranking (SIGIR 2021);
sentence-transformers' SparseEncoder computes the weights, terms that the text does not have among them.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ragassay.models.encoder_kinds import RowEncoder, load_sparse_encoder

from ..rankers.embedding import Progress
from ..rankers.embedding_cache import Text
from ..rankers.ranker import Ranking, at_least_kth, best_first
from .row_cache import TERM, RowCache, Rows
from .row_source import RowSource

DIGITS = 5


def sparse_source(model: str, cache: RowCache, progress: Progress | None = None) -> RowSource:
    """The weighted terms of texts by a model (hub name or folder); `cache` has the layout "terms"."""
    return RowSource(model, cache, load_sparse_encoder, _encode, "sparse", progress)


class Sparse:
    """The dot product of weighted terms over `texts`, whose ids stand beside them; encoded at the first search.

    Only passages whose score is above 0 are found: those that share a term with the query. Scores are rounded to 5
    decimals; equal ones are in the order of ids.
    """

    def __init__(self, ids: Sequence[str], texts: Collection[str], source: RowSource) -> None:
        self._ids, self._texts, self._source = ids, texts, source
        self._matrix: Any = None
        self._lock = threading.Lock()

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The at most `k` best passages for each query. Raises what `RowSource.rows` does."""
        if not queries or not len(self._ids):
            return [[] for _ in queries]
        with self._lock:
            if self._matrix is None:
                self._matrix = _matrix(list(self._source.rows([Text("passage", text) for text in self._texts])))
            rows = list(self._source.rows([Text("query", query) for query in queries]))
        return [self._ranking(row, k) for row in rows]

    def _ranking(self, row: Rows, k: int) -> Ranking:
        query = np.zeros(self._matrix.shape[1])
        within = row[row["term"] < len(query)]
        query[within["term"]] = within["weight"]
        scores = self._matrix @ query
        found = at_least_kth(scores, k, 10.0**-DIGITS)
        found = found[scores[found] > 0]
        return best_first(self._ids, scores[found], found, k, DIGITS)


def _matrix(rows: Sequence[Rows]) -> Any:
    """A scipy CSR matrix, a row a passage, in double precision."""
    from scipy.sparse import csr_array

    starts = np.cumsum([0, *map(len, rows)])
    together = np.concatenate(rows)
    width = int(together["term"].max(initial=-1)) + 1
    return csr_array((together["weight"].astype(np.float64), together["term"], starts), shape=(len(rows), width))


def _encode(encoder: RowEncoder, texts: Sequence[Text]) -> list[Rows]:
    encode = encoder.encode_query if texts[0].kind == "query" else encoder.encode_document
    found = encode([text.text for text in texts], batch_size=32, show_progress_bar=False, save_to_cpu=True).coalesce()
    numbers, terms = found.indices().numpy()
    rows = np.empty(len(terms), TERM)
    rows["term"], rows["weight"] = terms, found.values().float().numpy()
    starts = np.searchsorted(numbers, np.arange(len(texts) + 1))
    return [part[part["weight"] != 0] for part in (rows[start:stop] for start, stop in pairwise(starts))]
