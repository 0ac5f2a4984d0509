"""Vectors by key, kept on disk: what is in memory is a key and a row number for each.

The file has no name (it is gone when the process ends, however it ends) and lies in the folder for temporary files,
which TMPDIR sets. It is memory-mapped, so the system keeps in memory what is being read and gives the rest back.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ragassay.files import naming

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
