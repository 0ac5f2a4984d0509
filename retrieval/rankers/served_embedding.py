"""Embeddings by a server: batches at once, each kept when it comes, in the plan, the usage and the cost limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from functools import partial

from ragassay.arrays import Singles
from ragassay.calls.caller import Caller
from ragassay.calls.served import Failed, ServerCall
from ragassay.errors import InputError
from ragassay.models.embedding_server import EmbeddingServer, vectors_of
from ragassay.models.encoders import prompt_for
from ragassay.tokens import count_tokens

from .embedding import Embedder, unit_vectors
from .embedding_cache import EmbeddingCache, Text

BATCH_TEXTS, BATCH_TOKENS = 32, 16_384
"""The most of one call: TEI takes 32 texts unless it is started otherwise."""

LABEL = "embed"


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
        calls = (self._call(keys, batch) for keys, batch in self._batches(texts, missing))
        n = -(-len(missing) // BATCH_TEXTS)
        for _, got in self._caller.serve(calls, n, all_or_none=True):
            if isinstance(got, Failed):
                error = error or got.error
                continue
            if known.dimensions != got.shape[1]:
                error = error or f"gives vectors of {got.shape[1]} numbers, where there are some of {known.dimensions}"
        if error:
            remedy = "what came is kept: run again to go on, or name another model"
            raise InputError(f"{self._model} cannot embed: {error}", remedy=remedy)

    def _batches(self, texts: Iterable[Text], missing: Set[bytes]) -> Iterator[tuple[list[bytes], list[Text]]]:
        """The missing texts, each once, as many together as one call takes."""
        for chunk in self._chunks(texts, missing):
            keys, batch, tokens = list[bytes](), list[Text](), 0
            for key, text in zip(chunk.keys, chunk.texts, strict=True):
                more = count_tokens(text.text)
                if batch and (len(batch) == BATCH_TEXTS or tokens + more > BATCH_TOKENS):
                    yield keys, batch
                    keys, batch, tokens = [], [], 0
                keys, batch, tokens = [*keys, key], [*batch, text], tokens + more
            yield keys, batch

    def _call(self, keys: list[bytes], batch: list[Text]) -> ServerCall[Singles]:
        clean, known = [self._clean(text) for text in batch], self._cache.known()

        def keep(raw: Singles) -> None:
            if known.dimensions in {None, raw.shape[1]}:
                self._cache.add(keys, unit_vectors(raw, self._model, clean))

        read = partial(vectors_of, n=len(clean))
        tokens = sum(map(count_tokens, clean))
        return ServerCall(LABEL, self._model, len(clean), tokens, partial(self._server.ask, clean), read, keep)

    def _clean(self, text: Text) -> str:
        """The text behind its model's prefix; a lone surrogate is not text."""
        return prompt_for(self._model, {}, text.kind) + text.text.encode("utf-8", "replace").decode()
