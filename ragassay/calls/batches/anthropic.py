"""Anthropic's Message Batches: https://docs.anthropic.com/en/docs/build-with-claude/batch-processing.

At most 100,000 requests or 256 MB a batch; results come when all of it has ended, in any order.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import ProviderError, RagassayError
from ...experiment.model_settings import ModelSettings
from ...files import read_objects
from ...keys import without_keys
from ...models.endpoint import Endpoint, anthropic_tool
from ...models.prompt_cache import anthropic_content
from ...models.provider_errors import of_status
from ...models.redirects import anthropic_client
from ...models.requests import BATCH_TIER, Request
from ...text import plain
from ..reply_cache import body_of_message
from .log import BatchLine
from .provider import NO_BATCH_API, Item, Limits, Prepared, Standing, gone, no_batch_api

if TYPE_CHECKING:
    from anthropic import Anthropic
    from anthropic.types.messages import MessageBatch

LIMITS = Limits(100_000, 256_000_000)
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""https://docs.anthropic.com/en/api/errors"""


class AnthropicBatches:
    """The batches of one model. Its methods raise what the SDK raises, InputError for a batch that is not known."""

    def __init__(self, model: str, settings: ModelSettings, base_url: str | None) -> None:
        self._model, self._settings, self._base_url = model, settings, base_url

    @property
    def limits(self) -> Limits:
        return LIMITS

    @cached_property
    def _client(self) -> Anthropic:
        key = os.environ.get("ANTHROPIC_API_KEY") or "none"
        return anthropic_client(key, self._base_url, self._settings.timeout_s)

    @cached_property
    def _max_tokens(self) -> int:
        """The longest reply of a direct call: the user's, or what LangChain knows of the model."""
        return int(Endpoint(self._model, self._settings).chat().max_tokens)  # type: ignore[attr-defined]

    def line(self, key: str, request: Request, shared: int = 0) -> dict[str, Any]:
        """The request as a direct call would make it."""
        content = anthropic_content(request.messages, shared)
        params: dict[str, Any] = {
            "model": self._model.split(":", 1)[1],
            "max_tokens": self._max_tokens,
            "messages": [{"role": role, "content": text} for role, text in content if role != "system"],
        }
        if system := [text for role, text in content if role == "system" and text]:
            params["system"] = system[0]
        if (temperature := request.temperature_by(self._settings)) is not None:
            params["temperature"] = temperature
        if self._settings.top_p is not None:
            params["top_p"] = self._settings.top_p
        if request.schema:
            tool = anthropic_tool(request)
            params |= {"tools": [tool], "tool_choice": {"type": "tool", "name": tool["name"]}}
        return {"custom_id": key, "params": params}

    def prepare(self, file: Path) -> Prepared:
        """Ask for the newest batch: batches carry no name, and the one before tells which came after."""
        from anthropic import APIStatusError

        del file
        try:
            return Prepared(newest=next((batch.id for batch in self._client.messages.batches.list(limit=1)), None))
        except APIStatusError as error:
            if error.status_code in NO_BATCH_API:
                raise no_batch_api(self._model, self._base_url, error.status_code) from None
            raise

    def create(self, file: Path, line: BatchLine) -> str:
        del line
        requests: Any = [value for _, value in read_objects(file)]
        return self._client.messages.batches.create(requests=requests).id

    def find(self, line: BatchLine, known: set[str]) -> str | None:
        """The first batch after `line.newest` of as many requests; `items` tells in the end whether it is the one."""
        after: list[str] = []
        for batch in self._client.messages.batches.list(limit=100):
            if batch.id == line.newest:
                break
            counts = batch.request_counts
            n = counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired
            if n == line.n and batch.id not in known:
                after.append(batch.id)
        return after[-1] if after else None

    def standing(self, batch: str) -> Standing:
        found = self._known(batch)
        counts = found.request_counts
        failed = counts.errored + counts.canceled + counts.expired
        return Standing(found.processing_status, found.processing_status == "ended", counts.succeeded, failed)

    def items(self, batch: str) -> Iterator[Item]:
        if self._known(batch).results_url is None:
            raise gone(self._model, batch)
        for result in self._client.messages.batches.results(batch):
            yield self._item(result.to_dict(mode="json"))

    def _known(self, batch: str) -> MessageBatch:
        from anthropic import NotFoundError

        try:
            return self._client.messages.batches.retrieve(batch)
        except NotFoundError:
            raise gone(self._model, batch) from None

    def _item(self, line: dict[str, Any]) -> Item:
        key, result = str(line["custom_id"]), line["result"]
        if result["type"] == "succeeded":
            return Item(key, body=body_of_message(result["message"]) | BATCH_TIER)
        if result["type"] == "errored":
            return Item(key, error=self._error(result.get("error") or {}))
        return Item(key, error=ProviderError(f"the request {result['type']}", retryable=result["type"] == "expired"))

    def _error(self, response: dict[str, Any]) -> RagassayError:
        error = response.get("error") or response
        kind, said = str(error.get("type")), plain(without_keys(" ".join(str(error.get("message")).split())))[:300]
        return of_status(_STATUS.get(kind, 500), f"{plain(kind)}: {said}", self._model)
