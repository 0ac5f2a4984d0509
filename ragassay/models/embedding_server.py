"""Vectors of texts from any server that speaks OpenAI's `/embeddings`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Singles
from ..experiment.model_settings import ModelSettings
from .endpoint import base_url_of
from .json_server import JsonServer


class EmbeddingServer:
    """The model `openai:NAME` at its base_url, or OpenAI's own."""

    def __init__(self, model: str, settings: ModelSettings) -> None:
        self.model, self.base_url = model, base_url_of(model, settings)
        self._server = JsonServer(self.base_url, os.environ.get("OPENAI_API_KEY") or "none", settings)

    def ask(self, texts: Sequence[str]) -> Any:
        """The server's reply. Raises what `JsonServer.post` does."""
        name = self.model.split(":", 1)[1]
        return self._server.post("/embeddings", {"model": name, "input": list(texts), "encoding_format": "float"})


def served_identity(model: str, base_url: str | None) -> str:
    """What stands for a server's model in the cache's keys: its name and, if it is not OpenAI's own, its address."""
    return f"{model} at {base_url}" if base_url else model


def vectors_of(reply: Any, n: int) -> Singles:
    """(n, dimensions): the vectors in a reply, in the order asked. Raises ValueError, with a phrase, where not."""
    rows = reply.get("data") if isinstance(reply, dict) else None
    if not isinstance(rows, list):
        raise ValueError("no list of embeddings")
    if len(rows) != n:
        raise ValueError(f"{len(rows)} vectors for {n} texts")
    at = [row.get("index", place) for place, row in enumerate(rows)]
    if sorted(at) != list(range(n)):
        raise ValueError(f"vectors of other texts than those asked (index {at[:4]})")
    ordered = [rows[at.index(place)]["embedding"] for place in range(n)]
    if len({len(vector) for vector in ordered}) != 1 or not ordered[0]:
        raise ValueError("vectors of different lengths")
    with np.errstate(over="ignore"):
        vectors = np.asarray(ordered, dtype=np.float32)
    if not np.isfinite(vectors).all() or not (np.abs(vectors).sum(axis=1) > 0).all():
        raise ValueError("a vector that is zero or holds something that is no number")
    return vectors


def tokens_of(reply: Any) -> int | None:
    """The tokens that a reply says it took: `usage.prompt_tokens`, or `total_tokens`, as nothing is written."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    counts = [usage.get(name) for name in ("prompt_tokens", "total_tokens")] if isinstance(usage, dict) else []
    return next((n for n in counts if isinstance(n, int) and not isinstance(n, bool) and n >= 0), None)
