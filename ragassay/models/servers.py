"""Servers of models that do not chat: those that embed, rerank, or say how likely a text is; and who is reachable."""

from __future__ import annotations

import json
import math
import os
import socket
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import Message
from typing import IO, Any
from urllib.parse import urlsplit

import numpy as np

from ..arrays import Singles
from ..errors import InputError
from ..experiment.tables import ModelSettings
from ..text import plain
from .endpoint import base_url_of, check_model, provider_of
from .likelihood import PREFIX, REMEDY, EchoServer, check_causal
from .providers import JsonServer


class EmbeddingServer:
    """The model `openai:NAME` at its base_url, or OpenAI's own."""

    def __init__(self, model: str, settings: ModelSettings) -> None:
        self.model, self.base_url = model, base_url_of(model, settings)
        self._server = JsonServer(self.base_url, settings)

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


@dataclass(frozen=True)
class LikelihoodModel:
    """Its name and how it is reached."""

    name: str
    settings: ModelSettings = ModelSettings()

    @property
    def here(self) -> bool:
        """Whether it runs in this process."""
        return self.name.startswith(PREFIX)

    def check(self, what: str) -> None:
        """Raises InputError where it gives `what` no log-probabilities: its server is asked about two words, unpaid.

        A provider's usual address is not asked: what is asked there is paid for.
        """
        if self.here:
            check_causal(self.name)
            return
        needs, named = f"{what} needs log-probabilities of a text", plain(self.name)
        if not self.name.startswith("openai:") or self.settings.mode == "batch":
            how = " in batches" if self.settings.mode == "batch" else ""
            raise InputError(f"{needs}, which {named} does not give{how}", remedy=REMEDY)
        address = base_url_of(self.name, self.settings)
        if address is None:
            raise InputError(f"{needs}, and {named} has no base_url", remedy=REMEDY)
        check_model(self.name, self.settings)
        try:
            EchoServer(self.name, address, self.settings).score("A ", "word " * 40)
        except InputError:
            raise
        except Exception as error:  # noqa: BLE001  (what a server may answer)
            said = plain(str(error).split("\n")[0])[:200]
            problem = f"{named} at {plain(address)} does not say how likely a text is: {said}"
            raise InputError(problem, remedy=REMEDY) from None


_WAIT_S = 5.0
_MOST_BYTES = 1_000_000


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer: it is not followed to where it points."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        return None


def check_reachable(model: str, settings: ModelSettings) -> None:
    """Raises InputError where nobody listens at the model's own address; nothing is asked of a provider's usual one."""
    address = base_url_of(model, settings)
    if not address:
        return
    path = "/v1/models" if provider_of(model) == "anthropic" else "/models"
    parts = urlsplit(address)
    if why := why_unreachable(f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}{path}"):
        problem = f"{model}: nobody answers at {plain(address)} ({why})"
        raise InputError(problem, remedy="start the server there, or correct its base_url")


def why_unreachable(url: str) -> str | None:
    """Why no connection can be made; None where one can, whatever comes back, or nothing within five seconds."""
    try:
        _get(url)
    except (OSError, ValueError) as error:
        return _why(error.reason) if type(error) is urllib.error.URLError else None
    return None


def served_models(base_url: str) -> list[str]:
    """The ids that an OpenAI-compatible server lists, sorted. Raises InputError where it gives no list."""
    url = f"{base_url.rstrip('/')}/models"
    remedy = "start the server there, correct --base-url, or name the model with --model"
    try:
        listed = json.loads(_get(url))["data"]
        return sorted({str(one["id"]) for one in listed})
    except urllib.error.HTTPError as error:
        problem = f"{plain(url)} gives no list of models (status {error.code})"
        raise InputError(problem, remedy="name the model with --model") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        why = _why(reason) or f"no list of models: {type(error).__name__}"
        raise InputError(f"no model is found at {plain(base_url)} ({why})", remedy=remedy) from None


def _get(url: str) -> bytes:
    """What is there. No key is sent."""
    with urllib.request.build_opener(_NoRedirect()).open(url, timeout=_WAIT_S) as response:
        body: bytes = response.read(_MOST_BYTES)
    return body


def _why(reason: object) -> str | None:
    """Words for what keeps a connection from being made; None for what came later, or may pass by itself."""
    unreachable = isinstance(reason, OSError) and reason.strerror in {"No route to host", "Network is unreachable"}
    if unreachable or isinstance(reason, ConnectionRefusedError | socket.gaierror):
        return plain(str(getattr(reason, "strerror", None) or reason))
    return None


RERANK = "rerank:"
"""What the name of a model on a rerank server begins with."""

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
    """The model `rerank:NAME` at its base_url, on any `/rerank` server: Cohere's, Jina's, vLLM's or Hugging Face's TEI.

    Cohere (v2), Jina and vLLM take `{model, query, documents, top_n}` and give `{results: [{index, relevance_score}]}`;
    what was charged is `meta.billed_units.search_units` at Cohere, `usage.total_tokens` at Jina and vLLM. TEI takes
    `{query, texts}`, 32 texts at most unless it is started otherwise, and gives `[{index, score}]`. Which one it is the
    first call tells: TEI answers the others' layout with status 422, that `texts` is missing.
    For several threads. Raises InputError as `check_rerank_server` does.
    """

    def __init__(self, model: str, settings: ModelSettings) -> None:
        check_rerank_server(model, settings)
        self.model, self.base_url = model, str(settings.base_url)
        self._server = JsonServer(self.base_url, settings, rerank_key(self.base_url)[1] or "none")
        self._takes_texts = False

    def ask(self, query: str, texts: Sequence[str]) -> dict[str, Any]:
        """The reply in Cohere's layout, of any server. Raises what `JsonServer.post` does."""
        if not self._takes_texts:
            try:
                name = self.model.removeprefix(RERANK)
                body = {"model": name, "query": query, "documents": list(texts), "top_n": len(texts)}
                reply = self._server.post("/rerank", body)
                return reply if isinstance(reply, dict) else {"results": reply}
            except Exception as error:
                said = str(getattr(getattr(error, "response", None), "text", ""))
                if getattr(error, "status_code", None) not in {400, 422} or "texts" not in said:
                    raise
                self._takes_texts = True
        results = list[dict[str, Any]]()  # in as many calls as TEI takes: each text is scored by itself there
        for start in range(0, len(texts), _TEI_TEXTS):
            part = list(texts[start : start + _TEI_TEXTS])
            reply = self._server.post("/rerank", {"query": query, "texts": part, "truncate": True})
            results += [{"index": start + row["index"], "relevance_score": row["score"]} for row in reply]
        return {"results": results}


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
    units: Any = reply
    for name in ("meta", "billed_units", "search_units"):
        units = units.get(name) if isinstance(units, dict) else None
    if isinstance(units, int | float) and 0 <= units < math.inf:
        return math.ceil(units)
    return -(-n // TEXTS_PER_SEARCH)
