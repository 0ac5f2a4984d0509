"""Learned sparse retrieval and late interaction: what models made of texts, a row a term or a token, kept and compared.

Formal, Piwowarski and Clinchant, SPLADE: Sparse Lexical and Expansion Model for First Stage Ranking (SIGIR 2021): a
model weighs the terms of queries and passages, terms that the text does not have among them, and a score is the sum of
products. sentence-transformers' SparseEncoder computes the weights.

Khattab and Zaharia, ColBERT: Efficient and Effective Passage Search via Contextualized Late Interaction over BERT
(SIGIR 2020), equation 3: score(q, d) = sum over tokens i of q of the maximum over tokens j of d of E_qi · E_dj. The
vectors are those of sentence-transformers' MultiVectorEncoder, whose modules are the linear layer, the normalisation,
the markers of queries and passages, the tokens that are added to a query and those of a passage that are left out.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ragassay.arrays import Floats, Ints, Singles
from ragassay.errors import InputError, needing
from ragassay.models.encoders import RowEncoder, check_encoder, load_multi_vector_encoder, load_sparse_encoder
from ragassay.models.requests import in_parts
from ragassay.text import plain, writable

from .embedding import Progress, model_identity
from .embedding_cache import RowFile, Rows, Text, TextCache, log, read_archive, write_archive
from .ranker import Material, Ranker, Ranking, at_least_kth, best_above_zero, best_first

FORMAT = 1
"""Part of every key; to be raised when what models are given or the way rows are stored changes."""

Layout = Literal["terms", "tokens"]
"""Rows of "terms": (n,) of (`term`, `weight`). Of "tokens": (n, dimensions), half precision."""

TERM = np.dtype([("term", "<i4"), ("weight", "<f4")])
_TYPES: dict[Layout, np.dtype[Any]] = {"terms": TERM, "tokens": np.dtype("<f2")}


class RowStore:
    """Rows by key, memory-mapped: in memory is where each begins."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._spans: dict[bytes, tuple[int, int]] = {}
        self._rows = RowFile(dtype)

    def __contains__(self, key: object) -> bool:
        return key in self._spans

    def __getitem__(self, key: bytes) -> Rows:
        start, stop = self._spans[key]
        return self._rows.all()[start:stop]

    def add(self, keys: Sequence[bytes], rows: Sequence[Rows]) -> None:
        """Append the rows of each key. Raises ValueError where a row is longer or shorter than those before."""
        stop = len(self._rows)
        self._rows.append(rows)
        for key, row in zip(keys, rows, strict=True):
            start, stop = stop, stop + len(row)
            self._spans[key] = (start, stop)


class RowCache(TextCache[RowStore]):
    """The rows of one model. A file has `rows` and `starts` (n + 1: where the rows of each key begin).

    They are no embeddings files, and lie in a folder of their own.
    """

    def __init__(self, model: str, layout: Layout, write: Path | None, read: Sequence[Path] = ()) -> None:
        super().__init__(model, write, read, RowStore(_TYPES[layout]), format=FORMAT, rows=layout)
        self.layout = layout

    def add(self, keys: Sequence[bytes], rows: Sequence[Rows]) -> None:
        """Remember the rows of texts and write them, as one file that is there whole or not at all."""
        self.known().add(keys, rows)
        if self._write is not None:
            starts, together = np.cumsum([0, *map(len, rows)], dtype=np.int64), np.concatenate(list(rows))
            write_archive(self._write, self.model, keys, np.savez, f"-{self.layout}", starts=starts, rows=together)

    def _take(self, path: Path) -> None:
        model, keys, arrays = read_archive(path, "starts", "rows") or (self.model, [], [np.zeros(0), np.zeros(0)])
        starts, rows = arrays
        if not _well_formed(keys, starts, rows):
            log.warning("%s is damaged or no file of encodings; its texts are encoded again", path)
        elif model == self.model and rows.dtype == _TYPES[self.layout]:
            try:
                self._store.add(keys, [rows[start:stop] for start, stop in pairwise(starts)])
            except ValueError:
                log.warning("%s has vectors of another length; its texts are encoded again", path)


def _well_formed(keys: Sequence[bytes], starts: npt.NDArray[Any], rows: Rows) -> bool:
    return (
        starts.dtype == np.int64
        and starts.shape == (len(keys) + 1,)
        and len(keys) > 0
        and starts[0] == 0
        and starts[-1] == len(rows)
        and bool((np.diff(starts) >= 0).all())
        and ((rows.dtype == TERM and rows.ndim == 1) or (rows.dtype == _TYPES["tokens"] and rows.ndim == 2))
        and usable(rows)
    )


def usable(rows: Rows) -> bool:
    """Whether all numbers are finite, and no term is below 0."""
    if rows.dtype == TERM:
        return bool(np.isfinite(rows["weight"]).all() and (rows["term"] >= 0).all())
    return bool(np.isfinite(rows).all())


DIGITS, SPARSE_DIGITS = 4, 5

_QUERY_TOKENS, _PASSAGE_TOKENS = 2048, 8192  # that are compared at a time: 64 MB of products
_MARGIN = 1e-4  # above the error of single precision, of a product of vectors of length 1


class Encoded(Ranker):
    """`texts`, whose ids stand beside them, encoded at the first search: what both kinds share.

    The model (hub name or folder) is loaded once, when a text needs it. `cache` has the class's layout.
    """

    layout: ClassVar[Layout]

    def __init__(
        self,
        ids: Sequence[str],
        texts: Collection[str],
        model: str,
        cache: RowCache,
        progress: Progress | None = None,
    ) -> None:
        self._ids, self._texts, self._model, self._cache, self._progress = ids, texts, model, cache, progress
        self._encoder: RowEncoder | None = None
        self._lock = threading.Lock()
        self._ready = False

    @classmethod
    def over(cls, material: Material) -> Ranker:
        """By the model `embedding`, one of sentence-transformers."""
        model, folder = material.embedding, None if material.kept is None else material.kept / cls.layout
        cache = RowCache(model_identity(model), cls.layout, folder)
        return cls(material.ids, material.texts, model, cache, material.progress)

    @classmethod
    def check(cls, embedding: str, named: str) -> None:
        """Raises InputError where the model cannot be had."""
        check_encoder(embedding, named)

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The at most `k` best passages for each query.

        Raises InputError where the model cannot be loaded or gives what is no number, and MissingExtra where a text is
        not in the cache and sentence-transformers is not installed.
        """
        if not queries or not len(self._ids):
            return [[] for _ in queries]
        with self._lock:
            if not self._ready:
                self._index(list(self._rows([Text("passage", text) for text in self._texts])))
                self._ready = True
            asked = [np.array(row) for row in self._rows([Text("query", query) for query in queries])]
        return self._rankings(asked, k)

    def _rows(self, texts: Sequence[Text]) -> Iterator[Rows]:
        """The rows of each text, memory-mapped, after making those that are missing."""
        known, done = self._cache.known(), 0
        missing = {key for text in texts if (key := self._cache.key(text)) not in known}
        for chunk in self._cache.chunks(texts, missing):
            if self._encoder is None:
                what = f"{self.name} needs sentence-transformers for {len(missing)} texts not yet encoded"
                with needing(what + " ({} is not installed), which", "local"):
                    self._encoder = self._load(self._model)
            clean = [text._replace(text=writable(text.text)) for text in chunk.values()]
            made = self._encode(self._encoder, clean)
            for text, rows in zip(clean, made, strict=True):
                if not usable(rows):
                    problem = f"model '{plain(self._model)}' gives no usable numbers for '{plain(text.text[:60])}'"
                    raise InputError(problem)
            self._cache.add(list(chunk), made)
            done += len(chunk)
            if self._progress:
                self._progress(done, len(missing))
        return (known[self._cache.key(text)] for text in texts)

    @staticmethod
    @abstractmethod
    def _load(model: str) -> RowEncoder: ...

    @staticmethod
    @abstractmethod
    def _encode(encoder: RowEncoder, texts: Sequence[Text]) -> list[Rows]:
        """The rows of texts of one kind."""

    @abstractmethod
    def _index(self, rows: list[Rows]) -> None:
        """Take the passages' rows."""

    @abstractmethod
    def _rankings(self, queries: Sequence[Rows], k: int) -> list[Ranking]: ...


class Sparse(Encoded):
    """The dot product of weighted terms. Only passages whose score is above 0 are found: those that share a term with
    the query. Scores are rounded to 5 decimals; equal ones are in the order of ids.
    """

    name, layout = "sparse", "terms"

    @staticmethod
    def _load(model: str) -> RowEncoder:
        return load_sparse_encoder(model)

    @staticmethod
    def _encode(encoder: RowEncoder, texts: Sequence[Text]) -> list[Rows]:
        found = _encoded(encoder, texts, save_to_cpu=True).coalesce()
        numbers, terms = found.indices().numpy()
        rows = np.empty(len(terms), TERM)
        rows["term"], rows["weight"] = terms, found.values().float().numpy()
        starts = np.searchsorted(numbers, np.arange(len(texts) + 1))
        return [part[part["weight"] != 0] for part in (rows[start:stop] for start, stop in pairwise(starts))]

    def _index(self, rows: list[Rows]) -> None:
        """A scipy CSR matrix, a row a passage, in double precision."""
        from scipy.sparse import csr_array

        starts, together = np.cumsum([0, *map(len, rows)]), np.concatenate(rows)
        shape = (len(rows), int(together["term"].max(initial=-1)) + 1)
        self._matrix: Any = csr_array((together["weight"].astype(np.float64), together["term"], starts), shape=shape)

    def _rankings(self, queries: Sequence[Rows], k: int) -> list[Ranking]:
        rankings = []
        for row in queries:
            query = np.zeros(self._matrix.shape[1])
            within = row[row["term"] < len(query)]
            query[within["term"]] = within["weight"]
            rankings.append(best_above_zero(self._ids, self._matrix @ query, k, SPARSE_DIGITS))
        return rankings


class LateInteraction(Encoded):
    """MaxSim. Every passage that has a token is compared, exactly: candidates come from products in single precision,
    with room for their error, and their scores from products in double. Scores are rounded to 4 decimals; equal ones
    are in the order of ids. Vectors are kept in half precision, memory-mapped, and compared some thousands at a time.
    """

    name, layout = "late-interaction", "tokens"

    @staticmethod
    def _load(model: str) -> RowEncoder:
        return load_multi_vector_encoder(model)

    @staticmethod
    def _encode(encoder: RowEncoder, texts: Sequence[Text]) -> list[Rows]:
        return [np.asarray(row, np.float16) for row in _encoded(encoder, texts, convert_to_numpy=True)]

    def _index(self, rows: list[Rows]) -> None:
        self._passages = _Passages(rows)

    def _rankings(self, queries: Sequence[Rows], k: int) -> list[Ranking]:
        passages, rankings = self._passages, list[Ranking]()
        for group in in_parts(queries, len, _QUERY_TOKENS):
            for query, rough in zip(group, passages.rough(group), strict=True):
                if not len(query) or not len(passages.numbers):
                    rankings.append([])
                    continue
                lengths = np.linalg.norm(query.astype(np.float64), axis=1).sum()
                found = at_least_kth(rough, k, 2 * _MARGIN * lengths * passages.longest + 10.0**-DIGITS)
                scores = np.array([max_sim(query, passages.rows[number]) for number in found.tolist()])
                rankings.append(best_first(self._ids, scores, passages.numbers[found], k, DIGITS))
        return rankings


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
        for part in in_parts(self.rows, len, _PASSAGE_TOKENS):
            yield first, np.concatenate(part), np.cumsum([0, *map(len, part)])[:-1]
            first += len(part)


def _encoded(encoder: RowEncoder, texts: Sequence[Text], **how: bool) -> Any:
    encode = encoder.encode_query if texts[0].kind == "query" else encoder.encode_document
    return encode([text.text for text in texts], batch_size=32, show_progress_bar=False, **how)
