"""Encodings of several rows a text (weighted terms, or a vector a token), kept by content like embeddings.

A file is a NumPy archive without pickles: `keys` (n × 32 bytes: the SHA-256 of the layout, the model, whether the text
is a query or a passage, and the text), `starts` (n + 1: where the rows of each begin), `rows` and `model` (a name, for
people). Every file of a folder counts, whatever its name; each chunk is a file of its own, moved into place. They are
not embeddings files, and lie in a folder of their own.
"""

from __future__ import annotations

import io
import logging
import re
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ragassay.digests import digest_bytes, digest_json
from ragassay.files import naming, write_bytes
from ragassay.text import plain

from ..rankers.embedding_cache import Text

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
