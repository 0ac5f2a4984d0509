"""Scores of passages from any `/rerank` server: Cohere's, Jina's, vLLM's and Hugging Face's TEI.

Cohere (v2), Jina and vLLM take `{model, query, documents, top_n}` and give `{results: [{index, relevance_score}]}`;
what was charged is `meta.billed_units.search_units` at Cohere, `usage.total_tokens` at Jina and vLLM. TEI takes
`{query, texts}`, 32 texts at most unless it is started otherwise, and gives `[{index, score}]`. Which one it is the
first call tells: TEI answers the others' layout with status 422, that `texts` is missing.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from ..errors import InputError
from ..experiment.model_settings import ModelSettings
from ..text import plain
from .json_server import JsonServer

PREFIX = "rerank:"
TEXTS_PER_SEARCH = 100
"""What Cohere bills as one search."""

_TEI_TEXTS = 32
_OWN_KEYS = {"cohere.com": "COHERE_API_KEY", "cohere.ai": "COHERE_API_KEY", "jina.ai": "JINA_API_KEY"}
_ANY_KEY = "RERANK_API_KEY"


def rerank_key(base_url: str) -> tuple[str, str | None]:
    """(the variable that holds the key, the key): a key of Cohere or Jina goes to its host alone."""
    host = (urlsplit(base_url).hostname or "").lower()
    variable = next((key for name, key in _OWN_KEYS.items() if host == name or host.endswith(f".{name}")), _ANY_KEY)
    return variable, os.environ.get(variable)


def check_rerank_server(model: str, settings: ModelSettings) -> None:
    """Raises InputError where the server has no address or wants a key that is not there. Nothing is asked."""
    if settings.base_url is None:
        remedy = f'give it: [models."{plain(model)}"] base_url = "http://127.0.0.1:8000/v1"'
        raise InputError(f"{plain(model)} has no base_url", remedy=remedy)
    variable, key = rerank_key(settings.base_url)
    if variable != _ANY_KEY and not key:
        raise InputError(f"{plain(model)} needs a key and {variable} is not set", remedy=f"export {variable}=…")


class RerankServer:
    """The model `rerank:NAME` at its base_url; for several threads. Raises InputError as `check_rerank_server` does."""

    def __init__(self, model: str, settings: ModelSettings) -> None:
        check_rerank_server(model, settings)
        self.model, self.base_url = model, str(settings.base_url)
        self._server = JsonServer(self.base_url, rerank_key(self.base_url)[1] or "none", settings)
        self._takes_texts = False

    def ask(self, query: str, texts: Sequence[str]) -> dict[str, Any]:
        """The reply in Cohere's layout, of any server. Raises what `JsonServer.post` does."""
        if not self._takes_texts:
            try:
                return self._ask_documents(query, texts)
            except Exception as error:
                if not _wants_texts(error):
                    raise
                self._takes_texts = True
        return self._ask_texts(query, texts)

    def _ask_documents(self, query: str, texts: Sequence[str]) -> dict[str, Any]:
        name = self.model.removeprefix(PREFIX)
        body = {"model": name, "query": query, "documents": list(texts), "top_n": len(texts)}
        reply = self._server.post("/rerank", body)
        return reply if isinstance(reply, dict) else {"results": reply}

    def _ask_texts(self, query: str, texts: Sequence[str]) -> dict[str, Any]:
        """As many calls as TEI takes; each text is scored by itself there."""
        results = list[dict[str, Any]]()
        for start in range(0, len(texts), _TEI_TEXTS):
            part = list(texts[start : start + _TEI_TEXTS])
            reply = self._server.post("/rerank", {"query": query, "texts": part, "truncate": True})
            results += [{"index": start + row["index"], "relevance_score": row["score"]} for row in reply]
        return {"results": results}


def _wants_texts(error: Exception) -> bool:
    """Whether the server refused the layout of the others as TEI does."""
    said = str(getattr(getattr(error, "response", None), "text", ""))
    return getattr(error, "status_code", None) in {400, 422} and "texts" in said


def scores_of(reply: dict[str, Any], n: int) -> list[float]:
    """A score for each of the n texts, in the order asked. Raises ValueError, with a phrase, where one is not there."""
    results = reply.get("results")
    if not isinstance(results, list):
        raise ValueError("no list of results")
    scores: dict[int, float] = {}
    for row in results:
        at, score = row["index"], row["relevance_score"]
        if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at < n:
            raise ValueError(f"a score for passage {plain(str(at))[:20]}, where there are {n} from 0")
        if at in scores:
            raise ValueError(f"two scores for passage {at}")
        if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            raise ValueError(f"a score that is no number for passage {at}")
        scores[at] = float(score)
    if len(scores) != n:
        raise ValueError(f"{len(scores)} scores for {n} passages")
    return [scores[at] for at in range(n)]


def searches_of(reply: dict[str, Any], n: int) -> int:
    """What a call of n texts is charged as: what the reply says, or one for each 100 texts that were begun."""
    meta = reply.get("meta")
    billed = meta.get("billed_units") if isinstance(meta, dict) else None
    units = billed.get("search_units") if isinstance(billed, dict) else None
    if isinstance(units, int | float) and 0 <= units < math.inf:
        return math.ceil(units)
    return -(-n // TEXTS_PER_SEARCH)
