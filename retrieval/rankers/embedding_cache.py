"""Embeddings kept by content in plain arrays, so that no text is embedded twice and a recorded run can ship its own.

A file is a NumPy archive without pickles: `keys` (n × 32 bytes: the SHA-256 of the model, whether the text is a query
or a passage, and the text), `vectors` (n × dimensions, float16) and `model` (a name, for people). Every file of a
folder counts, whatever its name; each chunk is a file of its own, moved into place, so a killed run keeps what it had.
"""

from __future__ import annotations

import io
import logging
import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ragassay.errors import InputError
from ragassay.files import digest_bytes, digest_json, naming, write_bytes
from ragassay.text import plain

# The file has no name (it is gone when the process ends, however it ends) and lies in the folder for temporary files,
# which TMPDIR sets. It is memory-mapped, so the system keeps in memory what is being read and gives the rest back.

Vectors = npt.NDArray[np.float16]


class VectorStore(Mapping[bytes, Vectors]):
    """Half-precision vectors of one length by key. A key that is added again has the vector given last."""

    def __init__(self) -> None:
        self._rows: dict[bytes, int] = {}
        self._file: Any = None
        self._mapped: Vectors = np.zeros((0, 0), np.float16)
        self._n = 0
        self.dimensions: int | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._rows)

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __getitem__(self, key: bytes) -> Vectors:
        return np.array(self._all()[self._rows[key]])

    def add(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Append the vectors (one row a key). Raises ValueError where they are longer or shorter than those before."""
        if not len(keys):
            return
        row_bytes = vectors.shape[1] * np.dtype(np.float16).itemsize
        if self._file is None:
            self._file, self.dimensions = tempfile.TemporaryFile(), vectors.shape[1]  # noqa: SIM115
        if vectors.shape != (len(keys), self.dimensions):
            raise ValueError(f"{vectors.shape} is not {len(keys)} vectors of {self.dimensions} dimensions")
        self._file.seek(self._n * row_bytes)
        with naming(tempfile.gettempdir()):
            self._file.write(np.ascontiguousarray(vectors, np.float16).tobytes())
            self._file.flush()
        self._rows.update(zip(keys, range(self._n, self._n + len(keys)), strict=True))
        self._n += len(keys)

    def places(self, keys: Sequence[bytes]) -> npt.NDArray[np.intp]:
        """The row of each key, for `take`. Raises KeyError."""
        return np.fromiter((self._rows[key] for key in keys), np.intp, len(keys))

    def take(self, places: npt.NDArray[np.intp]) -> Vectors:
        """The vectors in those rows, in memory: float16, (len(places), dimensions)."""
        return self._all()[places]

    def _all(self) -> Vectors:
        if len(self._mapped) < self._n:
            self._mapped = np.memmap(self._file, np.float16, "r", shape=(self._n, self.dimensions or 0))
        return self._mapped


def on_disk(shape: tuple[int, int]) -> npt.NDArray[np.float32]:
    """A memory-mapped array of zeros in a file without a name, single precision. Raises OSError on a full disk."""
    if not all(shape):
        return np.zeros(shape, np.float32)
    with naming(tempfile.gettempdir()), tempfile.TemporaryFile() as file:
        if hasattr(os, "posix_fallocate"):  # a disk that fills up later would end the process by SIGBUS
            os.posix_fallocate(file.fileno(), 0, 4 * shape[0] * shape[1])
        return np.memmap(file, np.float32, "w+", shape=shape)


FORMAT = 1
"""Part of every key; to be raised when the prefixes that models get or the way vectors are stored change."""

_KEY_BYTES = 32

log = logging.getLogger(__name__)


class Text(NamedTuple):
    """What is embedded: models may treat a query and a passage of the same words differently."""

    kind: Literal["query", "passage"]
    text: str


class EmbeddingCache:
    """The embeddings of one model: those in `read` and `write` folders (which need not exist), and those added.

    New ones go to the folder `write`, or are only remembered where it is None. A file that is damaged is warned of
    and left out, so that its texts are embedded again.
    """

    def __init__(self, model: str, write: Path | None, read: Sequence[Path] = ()) -> None:
        self.model = model
        self._write = write
        self._folders = tuple(dict.fromkeys([*read, *([write] if write else [])]))
        self._found: VectorStore | None = None

    def key(self, text: Text) -> bytes:
        """What the vector of `text` is kept under: 32 bytes."""
        named = {"format": FORMAT, "model": self.model, "kind": text.kind, "text": text.text}
        return bytes.fromhex(digest_json(named))

    def known(self) -> VectorStore:
        """Every vector of the model, by key, on disk; the folders are read at the first call."""
        if self._found is None:
            self._found = VectorStore()
            for path in (path for folder in self._folders for path in sorted(folder.glob("*.npz"))):
                self._take(path)
        return self._found

    def add(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Remember vectors (one row a key) and write them, as one file that is there whole or not at all."""
        self.known().add(keys, vectors)
        if self._write is not None:
            name = f"{_slug(self.model)}-{digest_bytes(b''.join(keys))[:16]}.npz"
            write_bytes(self._write / name, _archive(self.model, keys, vectors))

    def _take(self, path: Path) -> None:
        content = _read(path)
        if content is None:
            log.warning("%s is damaged or not an embeddings file; its texts are embedded again", path)
        elif content[0] == self.model:
            if self.known().dimensions not in {None, content[2].shape[1]}:
                log.warning("%s has vectors of another length; its texts are embedded again", path)
            else:
                self.known().add(content[1], content[2])


def export_embeddings(source: Path, target: Path) -> int:
    """Join every embeddings file of the folder `source` in one file, `target` (`….npz`); how many texts it holds.

    The same embeddings give the same bytes. Raises InputError where there are none, or those of several models.
    """
    contents = [content for path in sorted(source.glob("*.npz")) if (content := _read(path)) is not None]
    models = sorted({model for model, _, _ in contents})
    if len(models) != 1:
        what = f"the embeddings of several models ({', '.join(models)})" if models else "no embeddings"
        raise InputError(f"holds {what}", file=source, remedy="export the folder of a run with one embedding model")
    rows = {key: row for _, keys, vectors in contents for key, row in zip(keys, vectors, strict=True)}
    keys = sorted(rows)
    write_bytes(target, _archive(models[0], keys, np.stack([rows[key] for key in keys])))
    return len(keys)


def _archive(model: str, keys: Sequence[bytes], vectors: Vectors) -> bytes:
    packed = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(len(keys), _KEY_BYTES)
    stream = io.BytesIO()
    np.savez_compressed(stream, model=np.array(model), keys=packed, vectors=vectors.astype(np.float16))
    return stream.getvalue()


def _read(path: Path) -> tuple[str, list[bytes], Vectors] | None:
    """(model, keys, vectors) of a file, or None where it is not what `_archive` writes."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            model, keys, vectors = str(archive["model"]), archive["keys"], archive["vectors"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, TypeError, zlib.error):
        return None
    return (model, [row.tobytes() for row in keys], vectors) if _well_formed(keys, vectors) else None


def _well_formed(keys: npt.NDArray[Any], vectors: npt.NDArray[Any]) -> bool:
    return (
        keys.dtype == np.uint8
        and keys.ndim == 2
        and keys.shape[1] == _KEY_BYTES
        and vectors.dtype == np.float16
        and vectors.ndim == 2
        and len(keys) == len(vectors)
        and bool(np.isfinite(vectors).all())
    )


def _slug(model: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", plain(model))[:60].strip("-.") or "model"
