"""Scores of (query, passage) pairs kept by content in plain arrays, as embeddings are, so that no pair is scored twice.

A file is a NumPy archive without pickles: `keys` (n × 32 bytes: the SHA-256 of model, query and text), `scores` (n,
float32) and `model` (a name, for people). Each chunk is a file of its own, moved into place, so a killed run keeps what
it had.
"""

from __future__ import annotations

import io
import logging
import re
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ragassay.digests import digest_bytes, digest_json
from ragassay.files import write_bytes
from ragassay.text import plain

FORMAT = 1
"""Part of every key; to be raised when the way pairs are scored changes."""

log = logging.getLogger(__name__)


class ScoreCache:
    """The scores of one model (`model`: its identity) in a folder, which need not exist.

    A file that is damaged is warned of and left out, so that its pairs are scored again.
    """

    def __init__(self, model: str, folder: Path) -> None:
        self._model, self._folder = model, folder
        self._found: dict[bytes, float] | None = None

    def key(self, query: str, text: str) -> bytes:
        """What the score of a pair is kept under: 32 bytes."""
        return bytes.fromhex(digest_json({"format": FORMAT, "model": self._model, "query": query, "text": text}))

    def known(self) -> Mapping[bytes, float]:
        """Every score by key; the folder is read at the first call."""
        if self._found is None:
            self._found = {}
            for path in sorted(self._folder.glob("*.npz")):
                self._found.update(self._read(path))
        return self._found

    def add(self, scores: Mapping[bytes, float]) -> None:
        """Remember scores and write them, as one file that is there whole or not at all."""
        packed = np.frombuffer(b"".join(scores), np.uint8).reshape(len(scores), 32)
        values, stream = np.fromiter(scores.values(), np.float32, len(scores)), io.BytesIO()
        np.savez_compressed(stream, model=np.array(self._model), keys=packed, scores=values)
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", plain(self._model))[:60].strip("-.") or "model"
        write_bytes(self._folder / f"{name}-{digest_bytes(b''.join(scores))[:16]}.npz", stream.getvalue())
        self.known()
        assert self._found is not None
        self._found.update(zip(scores, values.tolist(), strict=True))

    def _read(self, path: Path) -> dict[bytes, float]:
        """The scores of a file, none where they are another model's or it is damaged."""
        try:
            with np.load(path, allow_pickle=False) as archive:
                model, keys, scores = str(archive["model"]), archive["keys"], archive["scores"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, TypeError, zlib.error):
            model, keys, scores = self._model, np.zeros(0), np.zeros(1)
        if model != self._model:
            return {}
        shaped = keys.dtype == np.uint8 and keys.ndim == 2 and keys.shape[1] == 32 and scores.shape == (len(keys),)
        if not shaped or not np.isfinite(scores).all():
            log.warning("%s is damaged or not a file of scores; its pairs are scored again", path)
            return {}
        return {row.tobytes(): float(score) for row, score in zip(keys, scores, strict=True)}
