"""Embeddings of queries and passages by sentence-transformers, each text once, with the prefixes its model wants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from ragassay.encoders import OFFLINE_MODEL, Encoder, model_name
from ragassay.encoders import load_encoder as load_encoder
from ragassay.encoders import prompt_for as prompt_for
from ragassay.errors import InputError, MissingExtra
from ragassay.files import digest_file, digest_json, plain
from retrieval.embedding_cache import EmbeddingCache, Text, Vectors

CHUNK = 512
"""Texts embedded between two writes to the cache."""

Progress = Callable[[int, int], None]
"""Called with (texts embedded, texts to embed) now and then."""


class Embedder:
    """The embeddings of one model, from the cache or made; the model is loaded once, when a text needs it.

    Vectors are normalised in single precision and stored in half: what comes from the cache and what was just made
    are the same values. `load` gives the model of a name.
    """

    def __init__(
        self,
        model: str,
        cache: EmbeddingCache,
        load: Callable[[str], Encoder] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._model, self._cache, self._load, self._progress = model, cache, load or load_encoder, progress
        self._encoder: Encoder | None = None

    @property
    def identity(self) -> str:
        """What stands for the model wherever its vectors are kept (`model_identity`)."""
        return self._cache.model

    def vectors(self, texts: Sequence[Text]) -> Vectors:
        """One row a text (float16, of length 1 up to rounding).

        Raises InputError where the model cannot be loaded or gives no usable vector, and MissingExtra where a text
        is not in the cache and sentence-transformers is not installed.
        """
        keys = [self._cache.key(text) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._cache.known()}
        if missing:
            self._make(missing)
        known = self._cache.known()
        return np.stack([known[key] for key in keys]) if keys else np.zeros((0, 0), np.float16)

    def _make(self, missing: Mapping[bytes, Text]) -> None:
        encoder, done = self._ready(len(missing)), 0
        for kind in ("passage", "query"):
            keys = [key for key, text in missing.items() if text.kind == kind]
            for start in range(0, len(keys), CHUNK):
                chunk = keys[start : start + CHUNK]
                self._cache.add(chunk, _encode(encoder, self._model, [missing[key] for key in chunk]))
                done += len(chunk)
                if self._progress:
                    self._progress(done, len(missing))

    def _ready(self, n_missing: int) -> Encoder:
        if self._encoder is None:
            try:
                self._encoder = self._load(self._model)
            except ModuleNotFoundError as error:
                what = f"knn needs sentence-transformers for {n_missing} texts not yet embedded"
                raise MissingExtra(f"{what} ({error.name} is not installed), which", "local") from None
        return self._encoder


def model_identity(model: str) -> str:
    """What stands for the model in the cache's keys: its name, or for a folder the digest of what is in it."""
    folder = Path(model)
    if model == OFFLINE_MODEL or not folder.is_dir():
        return model
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    content = {path.relative_to(folder).as_posix(): digest_file(path) for path in files}
    return f"{model_name(model)} sha256:{digest_json(content)}"


def _encode(encoder: Encoder, model: str, texts: Sequence[Text]) -> Vectors:
    """Vectors of texts of one kind, normalised, half precision. Raises InputError where one is zero or not finite."""
    kind = texts[0].kind
    encode = encoder.encode_query if kind == "query" else encoder.encode_document
    clean = [text.text.encode("utf-8", "replace").decode() for text in texts]  # a lone surrogate is not text
    prompt = prompt_for(model, encoder.prompts, kind)
    raw = np.asarray(encode(clean, prompt=prompt, batch_size=32, show_progress_bar=False), dtype=np.float32)
    lengths = np.linalg.norm(raw, axis=1, keepdims=True)
    if bad := np.flatnonzero(~(np.isfinite(lengths[:, 0]) & (lengths[:, 0] > 0))).tolist():
        raise InputError(f"embedding model '{plain(model)}' gives no vector for '{plain(clean[bad[0]][:60])}'")
    return np.asarray(raw / lengths, dtype=np.float16)
