"""What models made of texts, kept by content in plain arrays, so that nothing is made twice; and the embeddings.

A file is a NumPy archive without pickles: `keys` (n × 32 bytes: the SHA-256 of the model, the text and what else shapes
what is kept), `model` (a name, for people), and the arrays themselves: of embeddings `vectors` (n × dimensions,
float16). Every file of a folder counts, whatever its name, so that a recorded run can ship its own; each chunk is a
file of its own, moved into place, so a killed run keeps what it had.
"""

from __future__ import annotations

import io
import logging
import os
import re
import tempfile
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ragassay.files import digest_bytes, digest_json, naming, write_bytes
from ragassay.text import plain

Vectors = npt.NDArray[np.float16]
Rows = npt.NDArray[Any]

FORMAT = 1
"""Part of every key; to be raised when the prefixes that models get or the way vectors are stored change."""

KEY_BYTES = 32

log = logging.getLogger(__name__)


def write_archive(
    folder: Path,
    model: str,
    keys: Sequence[bytes],
    save: Callable[..., None] = np.savez_compressed,
    kind: str = "",
    **arrays: Rows,
) -> None:
    """Write a file that is there whole or not at all, named by the model, what `kind` says and the keys."""
    packed, stream = np.frombuffer(b"".join(keys), np.uint8).reshape(len(keys), KEY_BYTES), io.BytesIO()
    save(stream, model=np.array(model), keys=packed, **arrays)
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", plain(model))[:60].strip("-.") or "model"
    write_bytes(folder / f"{slug}{kind}-{digest_bytes(b''.join(keys))[:16]}.npz", stream.getvalue())


def read_archive(path: Path, *names: str) -> tuple[str, list[bytes], list[Rows]] | None:
    """(model, keys, the arrays of these names) of a file, or None where it is not what `write_archive` writes."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            model, keys, arrays = str(archive["model"]), archive["keys"], [archive[name] for name in names]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, TypeError, zlib.error):
        return None
    if keys.dtype != np.uint8 or keys.ndim != 2 or keys.shape[1] != KEY_BYTES:
        return None
    return model, [row.tobytes() for row in keys], arrays


class RowFile:
    """Rows of one shape and type, in the order in which they came.

    The file has no name (it is gone when the process ends, however it ends) and lies in the folder for temporary files,
    which TMPDIR sets. It is memory-mapped, so the system keeps in memory what is being read and gives the rest back.
    """

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self._dtype = np.dtype(dtype)
        self._file: Any = None
        self._mapped: Rows = np.zeros(0, self._dtype)
        self._n = 0
        self.shape: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return self._n

    def append(self, parts: Sequence[Rows]) -> None:
        """Append the rows of each part. Raises ValueError where a row is longer or shorter than those before."""
        shapes = {part.shape[1:] for part in parts} | ({self.shape} if self.shape is not None else set())
        if len(shapes) > 1:
            raise ValueError(f"rows of different shapes: {sorted(shapes)}")
        if not parts:
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self.shape = shapes.pop()
        with naming(tempfile.gettempdir()):
            self._file.seek(self._n * int(np.prod(self.shape)) * self._dtype.itemsize)
            for part in parts:
                self._file.write(np.ascontiguousarray(part, self._dtype).tobytes())
            self._file.flush()
        self._n += sum(map(len, parts))

    def all(self) -> Rows:
        """(rows, *shape), memory-mapped."""
        shape = (self._n, *(self.shape or ()))
        if self._mapped.shape != shape:
            empty = not all(shape)
            self._mapped = (
                np.zeros(shape, self._dtype) if empty else np.memmap(self._file, self._dtype, "r", shape=shape)
            )
        return self._mapped


class VectorStore(Mapping[bytes, Vectors]):
    """Half-precision vectors of one length by key. A key that is added again has the vector given last."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._rows = RowFile(np.float16)

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._numbers)

    def __contains__(self, key: object) -> bool:
        return key in self._numbers

    def __getitem__(self, key: bytes) -> Vectors:
        return np.array(self._rows.all()[self._numbers[key]])

    @property
    def dimensions(self) -> int | None:
        """Of every vector; None while there is none."""
        return self._rows.shape[0] if self._rows.shape else None

    def add(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Append the vectors (one row a key). Raises ValueError where they are longer or shorter than those before."""
        if not len(keys):
            return
        if len(vectors) != len(keys):
            raise ValueError(f"{len(vectors)} vectors for {len(keys)} keys")
        first = len(self._rows)
        self._rows.append([vectors])
        self._numbers.update(zip(keys, range(first, len(self._rows)), strict=True))

    def places(self, keys: Sequence[bytes]) -> npt.NDArray[np.intp]:
        """The row of each key, for `take`. Raises KeyError."""
        return np.fromiter((self._numbers[key] for key in keys), np.intp, len(keys))

    def take(self, places: npt.NDArray[np.intp]) -> Vectors:
        """The vectors in those rows, in memory: float16, (len(places), dimensions)."""
        return self._rows.all()[places]


def on_disk(shape: tuple[int, int]) -> npt.NDArray[np.float32]:
    """A memory-mapped array of zeros in a file without a name, single precision. Raises OSError on a full disk."""
    if not all(shape):
        return np.zeros(shape, np.float32)
    with naming(tempfile.gettempdir()), tempfile.TemporaryFile() as file:
        if hasattr(os, "posix_fallocate"):  # a disk that fills up later would end the process by SIGBUS
            os.posix_fallocate(file.fileno(), 0, 4 * shape[0] * shape[1])
        return np.memmap(file, np.float32, "w+", shape=shape)


class Text(NamedTuple):
    """What a model is given: models may treat a query and a passage of the same words differently."""

    kind: Literal["query", "passage"]
    text: str


Chunk = dict[bytes, Text]
"""Texts by their keys, of one kind."""

CHUNK = 512
"""Texts given to a model between two writes to the cache."""

S = TypeVar("S")


class TextCache(ABC, Generic[S]):
    """What one model made of texts: that in the folders `read` and `write` (which need not exist), and what is added.

    New ones go to the folder `write`, or are only remembered where it is None. A file that is damaged is warned of
    and left out, so that its texts are given to the model again.
    """

    def __init__(self, model: str, write: Path | None, read: Sequence[Path], store: S, **named: str | int) -> None:
        self.model = model
        self._write, self._store, self._named = write, store, named
        self._unread = tuple(dict.fromkeys([*read, *([write] if write else [])]))

    def key(self, text: Text) -> bytes:
        """What is made of `text` is kept under: 32 bytes."""
        return bytes.fromhex(digest_json({**self._named, "model": self.model, "kind": text.kind, "text": text.text}))

    def chunks(self, texts: Iterable[Text], missing: Set[bytes]) -> Iterator[Chunk]:
        """The missing texts, each once: passages first, CHUNK at a time."""
        left = set(missing)
        for kind in ("passage", "query"):
            chunk: Chunk = {}
            for text in texts if left else ():
                if text.kind == kind and (key := self.key(text)) in left:
                    left.remove(key)
                    chunk[key] = text
                if len(chunk) == CHUNK:
                    yield chunk
                    chunk = {}
            if chunk:
                yield chunk

    def known(self) -> S:
        """All that the model made, by key, on disk; the folders are read at the first call."""
        folders, self._unread = self._unread, ()
        for path in (path for folder in folders for path in sorted(folder.glob("*.npz"))):
            self._take(path)
        return self._store

    @abstractmethod
    def _take(self, path: Path) -> None:
        """Remember what is in a file, if it is this model's."""


class EmbeddingCache(TextCache[VectorStore]):
    """The embeddings of one model."""

    def __init__(self, model: str, write: Path | None, read: Sequence[Path] = ()) -> None:
        super().__init__(model, write, read, VectorStore(), format=FORMAT)

    def add(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Remember vectors (one row a key) and write them, as one file that is there whole or not at all."""
        self.known().add(keys, vectors)
        if self._write is not None:
            write_archive(self._write, self.model, keys, vectors=vectors.astype(np.float16))

    def _take(self, path: Path) -> None:
        model, keys, arrays = read_archive(path, "vectors") or (self.model, list[bytes](), [np.zeros(0)])
        vectors: Rows = arrays[0]
        shaped = vectors.dtype == np.float16 and vectors.ndim == 2 and len(keys) == len(vectors)
        if not shaped or not np.isfinite(vectors).all():
            log.warning("%s is damaged or not an embeddings file; its texts are embedded again", path)
        elif model == self.model and self._store.dimensions not in {None, vectors.shape[1]}:
            log.warning("%s has vectors of another length; its texts are embedded again", path)
        elif model == self.model:
            self._store.add(keys, vectors)
