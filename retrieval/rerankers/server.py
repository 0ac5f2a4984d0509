"""Reranking by a server's `/rerank`: each reply kept by what was asked, in the plan, the usage and the cost limit."""

from __future__ import annotations

from functools import partial
from typing import Any

from ragassay.calls.caller import Caller
from ragassay.calls.served import ServerCall
from ragassay.digests import digest_json
from ragassay.models.rerank_server import RerankServer, scores_of, searches_of
from ragassay.tokens import count_tokens

from ..rankers.ranker import indexed_text
from .reranker import Asked, Failed, Scores

LABEL = "rerank"

_KEY_VERSION = 1
"""Part of every key: raising it throws away every reply that was paid for."""


class ServerReranker:
    """The scores of `rerank:NAME`, as its server gives them.

    A reply is kept for a query with all its passages: a server may score them by each other (Jina's third reranker).
    """

    def __init__(self, server: RerankServer, caller: Caller) -> None:
        self._server, self._caller = server, caller
        caller.uses_server(server.model)

    def rerank(self, asked: Asked) -> list[Scores | Failed]:
        """As `Reranker`. A reply with too few scores, two for a passage or none that is a number fails its query."""
        texts = [(_clean(query), tuple(_clean(indexed_text(p)) for p in passages)) for query, passages in asked]
        keys = [self._key(query, found) for query, found in texts]
        owed = {key: one for key, one in zip(keys, texts, strict=True) if one[1] and self._caller.kept(key) is None}
        failed: dict[str, Failed] = {}
        calls = [self._call(key, query, found) for key, (query, found) in owed.items()]
        for call, got in self._caller.serve(calls, len(calls)):
            if isinstance(got, Failed):
                failed[list(owed)[calls.index(call)]] = got
        return [failed.get(key) or self._kept(key, len(found)) for key, (_, found) in zip(keys, texts, strict=True)]

    def _key(self, query: str, texts: tuple[str, ...]) -> str:
        server = self._server
        named = {"model": server.model, "base_url": server.base_url, "query": query, "texts": list(texts)}
        return digest_json({"version": _KEY_VERSION, "kind": "rerank", **named})

    def _kept(self, key: str, n: int) -> Scores:
        body = self._caller.kept(key) if n else None
        return list(scores_of(body, n)) if body is not None else []

    def _call(self, key: str, query: str, texts: tuple[str, ...]) -> ServerCall[list[float]]:
        def keep(scores: list[float]) -> None:
            self._caller.keep(key, _body(scores))

        read = partial(scores_of, n=len(texts))
        tokens = len(texts) * count_tokens(query) + sum(map(count_tokens, texts))
        ask = partial(self._server.ask, query, texts)
        return ServerCall(
            LABEL, self._server.model, len(texts), tokens, ask, read, keep, partial(searches_of, n=len(texts))
        )


def _body(scores: list[float]) -> dict[str, Any]:
    """What is kept of a reply, in Cohere's layout."""
    return {"object": "rerank", "results": [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]}


def _clean(text: str) -> str:
    """Without lone surrogates, which no request can hold."""
    return text.encode("utf-8", "replace").decode()
