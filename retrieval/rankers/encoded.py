"""Learned sparse retrieval: a model weighs the terms of queries and passages, and a score is the sum of products.

Formal, Piwowarski and Clinchant, SPLADE: Sparse Lexical and Expansion Model for First Stage Ranking (SIGIR 2021);
sentence-transformers' SparseEncoder computes the weights, terms that the text does not have among them.
"""

from __future__ import annotations

import io
import logging
import re
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ragassay.arrays import Floats, Ints, Singles
from ragassay.errors import InputError, MissingExtra
from ragassay.files import digest_bytes, digest_json, naming, write_bytes
from ragassay.models.encoders import RowEncoder, load_multi_vector_encoder, load_sparse_encoder
from ragassay.text import plain

from .embedding import CHUNK, Progress
from .embedding_cache import Text
from .ranker import Ranking, at_least_kth, best_first

# A file is a NumPy archive without pickles: `keys` (n × 32 bytes: the SHA-256 of the layout, the model, whether the
# text is a query or a passage, and the text), `starts` (n + 1: where the rows of each begin), `rows` and `model` (a
# name,
# for people). Every file of a folder counts, whatever its name; each chunk is a file of its own, moved into place. They
# are
# not embeddings files, and lie in a folder of their own.

FORMAT = 1
"""Part of every key; to be raised when what models are given or the way rows are stored changes."""

Layout = Literal["terms", "tokens"]
Rows = npt.NDArray[Any]
"""Of "terms": (n,) of (`term`, `weight`). Of "tokens": (n, dimensions), half precision."""

TERM = np.dtype([("term", "<i4"), ("weight", "<f4")])
_TYPES: dict[Layout, np.dtype[Any]] = {"terms": TERM, "tokens": np.dtype("<f2")}
_KEY_BYTES = 32

log = logging.getLogger(__name__)


class _Content(NamedTuple):
    model: str
    keys: list[bytes]
    rows: list[Rows]


class RowCache:
    """The rows of one model: those in `read` and `write` folders (which need not exist), and those added.

    New ones go to the folder `write`, or are only remembered where it is None. A file that is damaged is warned of
    and left out, so that its texts are encoded again.
    """

    def __init__(self, model: str, layout: Layout, write: Path | None, read: Sequence[Path] = ()) -> None:
        self.model, self.layout = model, layout
        self._write = write
        self._folders = tuple(dict.fromkeys([*read, *([write] if write else [])]))
        self._found: RowStore | None = None

    def key(self, text: Text) -> bytes:
        """What the rows of `text` are kept under: 32 bytes."""
        named = {"format": FORMAT, "rows": self.layout, "model": self.model, "kind": text.kind, "text": text.text}
        return bytes.fromhex(digest_json(named))

    def known(self) -> RowStore:
        """Every text's rows, by key, on disk; the folders are read at the first call."""
        if self._found is None:
            self._found = RowStore(_TYPES[self.layout])
            for path in (path for folder in self._folders for path in sorted(folder.glob("*.npz"))):
                self._take(path)
        return self._found

    def add(self, keys: Sequence[bytes], rows: Sequence[Rows]) -> None:
        """Remember the rows of texts and write them, as one file that is there whole or not at all."""
        self.known().add(keys, rows)
        if self._write is not None:
            name = f"{_slug(self.model)}-{self.layout}-{digest_bytes(b''.join(keys))[:16]}.npz"
            write_bytes(self._write / name, _archive(self.model, keys, rows))

    def _take(self, path: Path) -> None:
        content = _read(path)
        if content is None:
            log.warning("%s is damaged or no file of encodings; its texts are encoded again", path)
        elif content.model == self.model and content.rows[0].dtype == _TYPES[self.layout]:
            try:
                self.known().add(content.keys, content.rows)
            except ValueError:
                log.warning("%s has vectors of another length; its texts are encoded again", path)


class RowStore:
    """Rows by key, in a file without a name for temporary files, memory-mapped: in memory is where each begins."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._dtype = dtype
        self._spans: dict[bytes, tuple[int, int]] = {}
        self._shape: tuple[int, ...] | None = None
        self._file: Any = None
        self._mapped: Rows | None = None
        self._n = 0

    def __contains__(self, key: object) -> bool:
        return key in self._spans

    def __getitem__(self, key: bytes) -> Rows:
        start, stop = self._spans[key]
        return self._all()[start:stop]

    def add(self, keys: Sequence[bytes], rows: Sequence[Rows]) -> None:
        """Append the rows of each key. Raises ValueError where a row is longer or shorter than those before."""
        shapes = {row.shape[1:] for row in rows} | ({self._shape} if self._shape is not None else set())
        if len(shapes) > 1:
            raise ValueError(f"rows of different shapes: {sorted(shapes)}")
        if not keys:
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._shape = shapes.pop()
        with naming(tempfile.gettempdir()):
            self._file.seek(0, io.SEEK_END)
            for key, row in zip(keys, rows, strict=True):
                self._file.write(np.ascontiguousarray(row, self._dtype).tobytes())
                self._spans[key] = (self._n, self._n + len(row))
                self._n += len(row)
            self._file.flush()

    def _all(self) -> Rows:
        shape = (self._n, *(self._shape or ()))
        if self._mapped is None or len(self._mapped) < self._n:
            empty = not all(shape)
            self._mapped = (
                np.zeros(shape, self._dtype) if empty else np.memmap(self._file, self._dtype, "r", shape=shape)
            )
        return self._mapped


def _archive(model: str, keys: Sequence[bytes], rows: Sequence[Rows]) -> bytes:
    packed = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(len(keys), _KEY_BYTES)
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    stream = io.BytesIO()
    np.savez(stream, model=np.array(model), keys=packed, starts=starts, rows=np.concatenate(list(rows)))
    return stream.getvalue()


def _read(path: Path) -> _Content | None:
    """What is in a file, or None where it is not what `_archive` writes."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            model, keys, starts, rows = str(archive["model"]), archive["keys"], archive["starts"], archive["rows"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, TypeError, zlib.error):
        return None
    if not _well_formed(keys, starts, rows):
        return None
    return _Content(model, [key.tobytes() for key in keys], [rows[start:stop] for start, stop in pairwise(starts)])


def _well_formed(keys: npt.NDArray[Any], starts: npt.NDArray[Any], rows: Rows) -> bool:
    return (
        keys.dtype == np.uint8
        and keys.ndim == 2
        and keys.shape[1] == _KEY_BYTES
        and starts.dtype == np.int64
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


def _slug(model: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", plain(model))[:60].strip("-.") or "model"


Encode = Callable[[RowEncoder, Sequence[Text]], list[Rows]]
"""The rows of texts of one kind."""


class RowSource:
    """The rows of one model; it is loaded once, when a text needs it, with `load`, and asked by `encode`.

    `what` needs it, and is named where it cannot be had.
    """

    def __init__(
        self,
        model: str,
        cache: RowCache,
        load: Callable[[str], RowEncoder],
        encode: Encode,
        what: str,
        progress: Progress | None = None,
    ) -> None:
        self._model, self._cache, self._load, self._encode = model, cache, load, encode
        self._what, self._progress = what, progress
        self._encoder: RowEncoder | None = None

    def rows(self, texts: Collection[Text]) -> Iterator[Rows]:
        """The rows of each text, memory-mapped, after making those that are missing.

        `texts` are gone through several times. Raises InputError where the model cannot be loaded or gives what is no
        number, and MissingExtra where a text is not in the cache and sentence-transformers is not installed.
        """
        self._make(texts)
        known = self._cache.known()
        return (known[self._cache.key(text)] for text in texts)

    def _make(self, texts: Collection[Text]) -> None:
        known = self._cache.known()
        missing = {key: text for text in texts if (key := self._cache.key(text)) not in known}
        done = 0
        for kind in ("passage", "query"):
            owed = [(key, text) for key, text in missing.items() if text.kind == kind]
            for start in range(0, len(owed), CHUNK):
                keys, chunk = zip(*owed[start : start + CHUNK], strict=True)
                self._cache.add(keys, self._made(chunk, len(missing)))
                done += len(keys)
                if self._progress:
                    self._progress(done, len(missing))

    def _made(self, texts: Sequence[Text], n_missing: int) -> list[Rows]:
        clean = [Text(text.kind, text.text.encode("utf-8", "replace").decode()) for text in texts]
        made = self._encode(self._ready(n_missing), clean)
        if bad := next((text for text, rows in zip(clean, made, strict=True) if not usable(rows)), None):
            raise InputError(f"model '{plain(self._model)}' gives no usable numbers for '{plain(bad.text[:60])}'")
        return made

    def _ready(self, n_missing: int) -> RowEncoder:
        if self._encoder is None:
            try:
                self._encoder = self._load(self._model)
            except ModuleNotFoundError as error:
                what = f"{self._what} needs sentence-transformers for {n_missing} texts not yet encoded"
                raise MissingExtra(f"{what} ({error.name} is not installed), which", "local") from None
        return self._encoder


# Khattab and Zaharia, ColBERT: Efficient and Effective Passage Search via Contextualized Late Interaction over BERT
# (SIGIR 2020), equation 3: score(q, d) = sum over tokens i of q of the maximum over tokens j of d of E_qi · E_dj. The
# vectors are those of sentence-transformers' MultiVectorEncoder, whose modules are the linear layer, the normalisation,
# the markers of queries and passages, the tokens that are added to a query and those of a passage that are left out.

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


SPARSE_DIGITS = 5


def sparse_source(model: str, cache: RowCache, progress: Progress | None = None) -> RowSource:
    """The weighted terms of texts by a model (hub name or folder); `cache` has the layout "terms"."""
    return RowSource(model, cache, load_sparse_encoder, _sparse_encode, "sparse", progress)


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
        found = at_least_kth(scores, k, 10.0**-SPARSE_DIGITS)
        found = found[scores[found] > 0]
        return best_first(self._ids, scores[found], found, k, SPARSE_DIGITS)


def _matrix(rows: Sequence[Rows]) -> Any:
    """A scipy CSR matrix, a row a passage, in double precision."""
    from scipy.sparse import csr_array

    starts = np.cumsum([0, *map(len, rows)])
    together = np.concatenate(rows)
    width = int(together["term"].max(initial=-1)) + 1
    return csr_array((together["weight"].astype(np.float64), together["term"], starts), shape=(len(rows), width))


def _sparse_encode(encoder: RowEncoder, texts: Sequence[Text]) -> list[Rows]:
    encode = encoder.encode_query if texts[0].kind == "query" else encoder.encode_document
    found = encode([text.text for text in texts], batch_size=32, show_progress_bar=False, save_to_cpu=True).coalesce()
    numbers, terms = found.indices().numpy()
    rows = np.empty(len(terms), TERM)
    rows["term"], rows["weight"] = terms, found.values().float().numpy()
    starts = np.searchsorted(numbers, np.arange(len(texts) + 1))
    return [part[part["weight"] != 0] for part in (rows[start:stop] for start, stop in pairwise(starts))]
