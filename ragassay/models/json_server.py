"""A server that is not a chat model: JSON posted to it, with the connection, time limit and errors of chat models."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..experiment.model_settings import ModelSettings
from .rate import rate_limiter
from .redirects import openai_client

if TYPE_CHECKING:
    from openai import OpenAI


class JsonServer:
    """POSTs to one address, without retries and no further than there; for several threads.

    `base_url`: None for OpenAI's own. The key goes along as a bearer token: OpenAI, Cohere, Jina, vLLM, TEI take it so.
    """

    def __init__(self, base_url: str | None, key: str, settings: ModelSettings) -> None:
        self._base_url, self._key, self._settings = base_url, key, settings
        self._lock = threading.Lock()
        self._client: OpenAI | None = None
        self._limiter: Any = None

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The reply to `body`, at most requests_per_minute. Raises what OpenAI's SDK raises, JSONDecodeError else."""
        client = self._opened()
        if self._limiter:
            self._limiter.acquire(blocking=True)
        reply = client.post(path, body=dict(body), cast_to=object)
        return json.loads(reply) if isinstance(reply, str) else reply

    def _opened(self) -> OpenAI:
        with self._lock:
            if self._client is None:
                self._client = openai_client(self._key, self._base_url, self._settings.timeout_s)
                self._limiter = rate_limiter(self._settings)
            return self._client
