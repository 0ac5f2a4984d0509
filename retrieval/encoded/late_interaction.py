"""Late interaction: a vector for each token, and each token of the query meets its nearest in the passage.

Khattab and Zaharia, ColBERT: Efficient and Effective Passage Search via Contextualized Late Interaction over BERT
(SIGIR 2020), equation 3: score(q, d) = sum over tokens i of q of the maximum over tokens j of d of E_qi · E_dj. The
vectors are those of sentence-transformers' MultiVectorEncoder, whose modules are the linear layer, the normalisation,
the markers of queries and passages, the tokens that are added to a query and those of a passage that are left out.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ragassay.arrays import Floats, Ints, Singles
from ragassay.models.encoder_kinds import RowEncoder, load_multi_vector_encoder

from ..rankers.embedding import Progress
from ..rankers.embedding_cache import Text
from ..rankers.ranker import Ranking, at_least_kth, best_first
from .row_cache import RowCache, Rows
from .row_source import RowSource

DIGITS = 4

_QUERY_TOKENS, _PASSAGE_TOKENS = 2048, 8192  # that are compared at a time: 64 MB of products
_MARGIN = 1e-4  # above the error of single precision, of a product of vectors of length 1


def token_source(model: str, cache: RowCache, progress: Progress | None = None) -> RowSource:
    """The vectors of texts' tokens by a model (hub name or folder); `cache` has the layout "tokens"."""
    return RowSource(model, cache, load_multi_vector_encoder, _encode, "late-interaction", progress)


class LateInteraction:
    """MaxSim over `texts`, whose ids stand beside them; they are encoded at the first search.

    Every passage that has a token is compared, exactly: candidates come from products in single precision, with room
    for their error, and their scores from products in double. Scores are rounded to 4 decimals; equal ones are in the
    order of ids. Vectors are kept in half precision, memory-mapped, and compared some thousands at a time.
    """

    def __init__(self, ids: Sequence[str], texts: Collection[str], source: RowSource) -> None:
        self._ids, self._texts, self._source = ids, texts, source
        self._passages: _Passages | None = None
        self._lock = threading.Lock()

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The at most `k` best passages for each query. Raises what `RowSource.rows` does."""
        if not queries or not len(self._ids):
            return [[] for _ in queries]
        with self._lock:
            if self._passages is None:
                rows = self._source.rows([Text("passage", text) for text in self._texts])
                self._passages = _Passages(list(rows))
            asked = [np.array(row) for row in self._source.rows([Text("query", query) for query in queries])]
        return [ranking for group in _groups(asked) for ranking in self._rankings(self._passages, group, k)]

    def _rankings(self, passages: _Passages, queries: Sequence[Rows], k: int) -> Iterator[Ranking]:
        for query, rough in zip(queries, passages.rough(queries), strict=True):
            if not len(query) or not len(passages.numbers):
                yield []
                continue
            lengths = np.linalg.norm(query.astype(np.float64), axis=1).sum()
            found = at_least_kth(rough, k, 2 * _MARGIN * lengths * passages.longest + 10.0**-DIGITS)
            scores = np.array([max_sim(query, passages.rows[number]) for number in found.tolist()])
            yield best_first(self._ids, scores, passages.numbers[found], k, DIGITS)


def max_sim(query: Rows, passage: Rows) -> float:
    """Equation 3, in double precision: `query` (n, dimensions), `passage` (m, dimensions), neither empty."""
    products: Floats = query.astype(np.float64) @ passage.astype(np.float64).T
    return float(products.max(axis=1).sum())


class _Passages:
    """The passages that have tokens: their rows, their numbers among all, and the length of the longest vector."""

    def __init__(self, rows: Sequence[Rows]) -> None:
        self.numbers: Ints = np.array([number for number, row in enumerate(rows) if len(row)], np.intp)
        self.rows = [rows[number] for number in self.numbers]
        lengths = (np.linalg.norm(block.astype(np.float32), axis=1).max() for _, block, _ in self._blocks())
        self.longest = float(max(lengths, default=0.0))

    def rough(self, queries: Sequence[Rows]) -> Singles:
        """(queries, passages): the scores, with the error of single precision; 0 for a query without tokens."""
        scores = np.zeros((len(queries), len(self.rows)), np.float32)
        asked = [number for number, query in enumerate(queries) if len(query)]
        if not asked:
            return scores
        together = np.concatenate([queries[number] for number in asked]).astype(np.float32)
        heads = np.cumsum([0, *(len(queries[number]) for number in asked)])[:-1]
        for first, block, starts in self._blocks():
            nearest = np.maximum.reduceat(together @ block.astype(np.float32).T, starts, axis=1)
            scores[asked, first : first + len(starts)] = np.add.reduceat(nearest, heads, axis=0)
        return scores

    def _blocks(self) -> Iterator[tuple[int, npt.NDArray[Any], Ints]]:
        """(number of the first passage, their tokens' vectors, where each passage begins), whole passages at a time."""
        first = 0
        while first < len(self.rows):
            stop, n_tokens = first, 0
            while stop < len(self.rows) and (stop == first or n_tokens + len(self.rows[stop]) <= _PASSAGE_TOKENS):
                n_tokens += len(self.rows[stop])
                stop += 1
            part = self.rows[first:stop]
            yield first, np.concatenate(part), np.cumsum([0, *map(len, part)])[:-1]
            first = stop


def _groups(queries: Sequence[Rows]) -> Iterator[list[Rows]]:
    """The queries in their order, so many at a time as have few enough tokens."""
    group: list[Rows] = []
    for query in queries:
        if group and sum(map(len, group)) + len(query) > _QUERY_TOKENS:
            yield group
            group = []
        group.append(query)
    yield group


def _encode(encoder: RowEncoder, texts: Sequence[Text]) -> list[Rows]:
    encode = encoder.encode_query if texts[0].kind == "query" else encoder.encode_document
    found = encode([text.text for text in texts], batch_size=32, show_progress_bar=False, convert_to_numpy=True)
    return [np.asarray(row, np.float16) for row in found]
