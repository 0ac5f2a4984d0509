"""Embeddings of queries and passages by sentence-transformers, each text once, with the prefixes its model wants."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ragassay.arrays import Singles
from ragassay.calls.caller import Caller
from ragassay.calls.served import Failed, ServerCall
from ragassay.cores import Cores
from ragassay.errors import InputError, needing
from ragassay.experiment.plugins import load_own_object, own_identity, said
from ragassay.experiment.settings import Backend
from ragassay.files import digest_file, digest_json
from ragassay.models.encoders import OFFLINE_MODEL, Encoder, check_encoder, model_name
from ragassay.models.encoders import load_encoder as load_encoder
from ragassay.models.encoders import prompt_for as prompt_for
from ragassay.models.onnx import INT8, check_backend, compiled
from ragassay.models.requests import in_parts
from ragassay.models.servers import EmbeddingServer, vectors_of
from ragassay.prompts import count_tokens
from ragassay.text import plain, writable

from .embedding_cache import Chunk, EmbeddingCache, Text, Vectors

Progress = Callable[[int, int], None]
"""Called with (texts embedded, texts to embed) now and then."""


class Embedder:
    """The embeddings of one model, from the cache or made; the model is loaded once, when a text needs it.

    Vectors are normalised in single precision and stored in half: what comes from the cache and what was just made
    are the same values. `load` gives the model of a name, by default sentence-transformers' with its network run by
    `backend`; the cache's identity is that of `model_identity` with the same backend. Where `cores` are a cluster's,
    its workers load the model.
    """

    def __init__(
        self,
        model: str,
        cache: EmbeddingCache,
        load: Callable[[str], Encoder] | None = None,
        progress: Progress | None = None,
        cores: Cores | None = None,
        backend: Backend = "auto",
    ) -> None:
        self._cores = cores or Cores()
        self._load: Callable[[str], Encoder] = load or _Loader(backend)
        self.model, self._cache, self._progress = model, cache, progress
        self._encoder: Encoder | None = None
        self._anew = False

    @property
    def identity(self) -> str:
        """What stands for the model wherever its vectors are kept (`model_identity`)."""
        return self._cache.model

    def vectors(self, texts: Sequence[Text]) -> Vectors:
        """One row a text (float16, of length 1 up to rounding). Raises what `places` does."""
        if self._anew and texts:
            return _vectors(self._ready(len(texts)), self.model, texts)
        return self.take(self.places(texts)) if texts else np.zeros((0, 0), np.float16)

    @contextmanager
    def anew(self) -> Iterator[None]:
        """Inside, `vectors` embeds its texts (of one kind) here, whatever the cache has, and keeps nothing."""
        self._anew = True
        try:
            yield
        finally:
            self._anew = False

    def places(self, texts: Collection[Text]) -> npt.NDArray[np.intp]:
        """Where the vector of each text is, for `take`, after making those that are missing.

        `texts` are gone through several times and never held. Raises InputError where the model cannot be loaded or
        gives no usable vector, and MissingExtra where a text is not in the cache and sentence-transformers is not
        installed.
        """
        keys, known = [self._cache.key(text) for text in texts], self._cache.known()
        if missing := {key for key in keys if key not in known}:
            self._make(texts, missing)
        return known.places(keys)

    def n_missing(self, texts: Collection[Text]) -> int:
        """How many different texts `places` would have to make."""
        known = self._cache.known()
        return len({key for text in texts if (key := self._cache.key(text)) not in known})

    def take(self, places: npt.NDArray[np.intp]) -> Vectors:
        """The vectors at those places, one row each (float16)."""
        return self._cache.known().take(places)

    def _make(self, texts: Iterable[Text], missing: Set[bytes]) -> None:
        if self._cores.elsewhere:
            work = partial(_encode_there, self._load, self.model)
        else:
            work = partial(_encode, self._ready(len(missing)), self.model)
        done, known = 0, self._cache.known()
        for _, (keys, vectors) in self._cores.each(work, self._cache.chunks(texts, missing), here="one"):
            if known.dimensions not in {None, n := vectors.shape[1]}:
                said = f"gives vectors of {n} numbers, where there are some of {known.dimensions}"
                raise InputError(f"embedding model '{plain(self.model)}' {said}", remedy="name another model")
            self._cache.add(keys, vectors)
            done += len(keys)
            if self._progress:
                self._progress(done, len(missing))

    def _ready(self, n_missing: int) -> Encoder:
        if self._encoder is None:
            what = f"knn needs sentence-transformers for {n_missing} texts not yet embedded"
            with needing(what + " ({} is not installed), which", "local"):
                self._encoder = self._load(self.model)
        return self._encoder


def check_local(model: str, backend: Backend, what: str) -> None:
    """Raises InputError where `what` could not embed by a model on this machine. Nothing is loaded."""
    check_encoder(model, what)
    check_backend(backend)


@dataclass(frozen=True)
class _Loader:
    """What gives the model of a name: equal ones are one on a cluster's worker, which loads a model once."""

    backend: Backend

    def __call__(self, model: str) -> Encoder:
        return compiled(load_encoder(model), model, self.backend)


def model_identity(model: str, backend: Backend = "auto") -> str:
    """What stands for the model in the cache's keys: its name, or for a folder the digest of what is in it.

    A backend belongs to it where its vectors are others than torch's (`ragassay.models.onnx`).
    """
    folder, identity = Path(model), model
    if model != OFFLINE_MODEL and folder.is_dir():
        files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
        content = {path.relative_to(folder).as_posix(): digest_file(path) for path in files}
        identity = f"{model_name(model)} sha256:{digest_json(content)}"
    return f"{identity} {backend}" if backend == INT8 else identity


def _encode_there(load: Callable[[str], Encoder], model: str, chunk: Chunk) -> tuple[list[bytes], Vectors]:
    """`_encode` on a cluster's worker, which loads the model once."""
    with _loading:
        encoder = _loaded(load, model)
    return _encode(encoder, model, chunk)


_loading = threading.Lock()


@cache
def _loaded(load: Callable[[str], Encoder], model: str) -> Encoder:
    try:
        return load(model)
    except ModuleNotFoundError as error:
        raise InputError(f"a worker of the cluster cannot embed ({error.name} is not installed there)") from None


def _encode(encoder: Encoder, model: str, chunk: Chunk) -> tuple[list[bytes], Vectors]:
    return list(chunk), _vectors(encoder, model, list(chunk.values()))


def _vectors(encoder: Encoder, model: str, texts: Sequence[Text]) -> Vectors:
    """Vectors of texts of one kind, normalised, half precision. Raises InputError where one is zero or not finite."""
    kind = texts[0].kind
    encode = encoder.encode_query if kind == "query" else encoder.encode_document
    clean = [writable(text.text) for text in texts]  # a lone surrogate is not text
    prompt = prompt_for(model, encoder.prompts, kind)
    raw = np.asarray(encode(clean, prompt=prompt, batch_size=32, show_progress_bar=False), dtype=np.float32)
    return unit_vectors(raw, model, clean)


def unit_vectors(raw: Singles, model: str, clean: Sequence[str]) -> Vectors:
    """The rows at length 1, half precision. Raises InputError, naming its text, where one is zero or not finite."""
    lengths = np.linalg.norm(raw, axis=1, keepdims=True)
    if bad := np.flatnonzero(~(np.isfinite(lengths[:, 0]) & (lengths[:, 0] > 0))).tolist():
        raise InputError(f"embedding model '{plain(model)}' gives no vector for '{plain(clean[bad[0]][:60])}'")
    return np.asarray(raw / lengths, dtype=np.float16)


class OwnEncoder:
    """The object `python:module:name`, loaded when a text needs it; it gets texts as they are, without prefixes.

    It runs in this process: what it asks and pays is in no plan and no limit.
    """

    prompts: Mapping[str, str | None] = {"query": "", "document": ""}

    def __init__(self, name: str, folder: Path) -> None:
        self._name, self._folder, self.identity = name, folder, own_identity(name, folder)

    def encode_query(self, inputs: list[str], *, prompt: str, batch_size: int, show_progress_bar: bool) -> Any:
        """(texts, dimensions). Raises InputError with what the user's code raised."""
        del prompt, batch_size, show_progress_bar
        own = self._own
        return self._rows(lambda: [own.embed_query(text) for text in inputs], len(inputs))

    def encode_document(self, inputs: list[str], *, prompt: str, batch_size: int, show_progress_bar: bool) -> Any:
        """As `encode_query`."""
        del prompt, batch_size, show_progress_bar
        own = self._own
        return self._rows(lambda: own.embed_documents(list(inputs)), len(inputs))

    @cached_property
    def _own(self) -> Any:
        return load_own_object(self._name, self._folder, "embed_documents")

    def _rows(self, embed: Callable[[], Any], n: int) -> Any:
        try:
            rows = np.asarray(embed(), dtype=np.float32)
        except (Exception, SystemExit) as error:
            raise InputError(f"{plain(self._name)} cannot embed ({said(error)})") from error
        if rows.ndim != 2 or len(rows) != n:
            raise InputError(f"{plain(self._name)} gives an array of {rows.shape} for {n} texts")
        return rows


BATCH_TEXTS, BATCH_TOKENS = 32, 16_384
"""The most of one call: TEI takes 32 texts unless it is started otherwise."""

LABEL = "embed"


def _tokens(pair: tuple[bytes, Text]) -> int:
    return count_tokens(pair[1].text)


class ServedEmbedder(Embedder):
    """The embeddings of a server's model, from the cache or asked for; what a killed run had is not paid again.

    A search is timed with the query's vector at hand (`anew` changes nothing): the server's own time, which stands in
    `server-calls.jsonl`, is not asked for again and again.
    """

    def __init__(self, server: EmbeddingServer, cache: EmbeddingCache, caller: Caller) -> None:
        super().__init__(server.model, cache)
        self._server, self._caller = server, caller
        caller.uses_server(server.model)

    @contextmanager
    def anew(self) -> Iterator[None]:
        """Inside, `vectors` still gives what the cache has."""
        yield

    def _make(self, texts: Iterable[Text], missing: Set[bytes]) -> None:
        """Raises InputError where a batch fails or has vectors of another length; what came is kept."""
        known, error = self._cache.known(), None
        calls = map(self._call, self._batches(texts, missing))
        n = -(-len(missing) // BATCH_TEXTS)
        for _, got in self._caller.serve(calls, n, all_or_none=True):
            if isinstance(got, Failed):
                error = error or got.error
                continue
            if known.dimensions != got.shape[1]:
                error = error or f"gives vectors of {got.shape[1]} numbers, where there are some of {known.dimensions}"
        if error:
            remedy = "what came is kept: run again to go on, or name another model"
            raise InputError(f"{self.model} cannot embed: {error}", remedy=remedy)

    def _batches(self, texts: Iterable[Text], missing: Set[bytes]) -> Iterator[Chunk]:
        """The missing texts, each once, as many together as one call takes."""
        for chunk in self._cache.chunks(texts, missing):
            yield from map(dict, in_parts(chunk.items(), _tokens, BATCH_TOKENS, BATCH_TEXTS))

    def _call(self, batch: Chunk) -> ServerCall[Singles]:
        # the texts behind their model's prefix; a lone surrogate is not text
        clean = [prompt_for(self.model, {}, text.kind) + writable(text.text) for text in batch.values()]
        known = self._cache.known()

        def keep(raw: Singles) -> None:
            if known.dimensions in {None, raw.shape[1]}:
                self._cache.add(list(batch), unit_vectors(raw, self.model, clean))

        read, tokens = partial(vectors_of, n=len(clean)), sum(map(count_tokens, clean))
        return ServerCall(LABEL, self.model, len(clean), tokens, partial(self._server.ask, clean), read, keep)
