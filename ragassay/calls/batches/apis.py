"""Anthropic's Message Batches and OpenAI's Batch API, each as a `BatchProvider`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InputError, ProviderError, RagassayError
from ...files import read_objects
from ...models.endpoint import Endpoint, anthropic_tool
from ...models.providers import anthropic_client, anthropic_content, of_status, openai_client, short
from ...models.requests import BATCH_TIER, Request
from ...text import plain
from ..register import input_line
from ..reply_cache import body_of_message
from .provider import BatchLine, BatchProvider, Item, Limits, Prepared, Standing

if TYPE_CHECKING:
    from anthropic import Anthropic
    from anthropic.types.messages import MessageBatch
    from openai import OpenAI
    from openai.types import Batch

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


class AnthropicBatches(BatchProvider):
    """Anthropic's: results come when all of a batch has ended, in any order."""

    limits = Limits(100_000, 256_000_000)

    @cached_property
    def _client(self) -> Anthropic:
        key = os.environ.get("ANTHROPIC_API_KEY") or "none"
        return anthropic_client(key, self._base_url, self._settings.timeout_s)

    @cached_property
    def _max_tokens(self) -> int:
        """The longest reply of a direct call: the user's, or what LangChain knows of the model."""
        return int(Endpoint(self._model, self._settings).chat().max_tokens)  # type: ignore[attr-defined]

    def line(self, key: str, request: Request, shared: int = 0) -> dict[str, Any]:
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
        del file
        with self.having_batches():
            return Prepared(newest=next((batch.id for batch in self._client.messages.batches.list(limit=1)), None))

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
            raise self.gone(batch)
        for result in self._client.messages.batches.results(batch):
            yield self._item(result.to_dict(mode="json"))

    def _known(self, batch: str) -> MessageBatch:
        with self.knowing(batch):
            return self._client.messages.batches.retrieve(batch)

    def _item(self, line: dict[str, Any]) -> Item:
        key, result = str(line["custom_id"]), line["result"]
        if result["type"] == "succeeded":
            return Item(key, body=body_of_message(result["message"]) | BATCH_TIER)
        if result["type"] == "errored":
            response = result.get("error") or {}
            error = response.get("error") or response
            kind, said = str(error.get("type")), short(error.get("message"))
            return Item(key, error=of_status(_STATUS.get(kind, 500), f"{plain(kind)}: {said}", self._model))
        return Item(key, error=ProviderError(f"the request {result['type']}", retryable=result["type"] == "expired"))


_ENDED = {"completed", "failed", "expired", "cancelled"}
_NAME = "ragassay"
"""The key of a batch's metadata under which its name on our record stands."""
_A_DAY_S = 86_400


class OpenAIBatches(BatchProvider):
    """OpenAI's (https://platform.openai.com/docs/guides/batch), or of a server that has them."""

    limits = Limits(50_000, 200_000_000)

    @cached_property
    def _client(self) -> OpenAI:
        key = os.environ.get("OPENAI_API_KEY") or "none"
        return openai_client(key, self._base_url, self._settings.timeout_s)

    def line(self, key: str, request: Request, shared: int = 0) -> dict[str, Any]:
        del shared  # what is shared is cached without a mark
        return input_line(key, self._model, self._settings, request, "max_completion_tokens")

    def prepare(self, file: Path) -> Prepared:
        """Upload the requests."""
        with self.having_batches(), file.open("rb") as stream:
            return Prepared(self._client.files.create(file=(f"ragassay-{file.name}", stream), purpose="batch").id)

    def create(self, file: Path, line: BatchLine) -> str:
        del file
        return self._client.batches.create(
            input_file_id=str(line.input_file),
            endpoint="/v1/chat/completions",
            completion_window="24h",
            metadata={_NAME: line.name},
        ).id

    def find(self, line: BatchLine, known: set[str]) -> str | None:
        for batch in self._client.batches.list(limit=100):
            if batch.created_at < line.at - _A_DAY_S:
                return None
            if (batch.metadata or {}).get(_NAME) == line.name and batch.id not in known:
                return batch.id
        return None

    def standing(self, batch: str) -> Standing:
        found = self._known(batch)
        counts = found.request_counts
        done, failed = (counts.completed, counts.failed) if counts else (0, 0)
        refused, full = self._refused(found) if found.status == "failed" else (None, False)
        return Standing(found.status, found.status in _ENDED, done, failed, refused, full)

    def items(self, batch: str) -> Iterator[Item]:
        found = self._known(batch)
        for file in filter(None, (found.output_file_id, found.error_file_id)):
            with self.knowing(batch):
                text = self._client.files.content(file).content.decode("utf-8")
            yield from filter(None, map(self._item, text.split("\n")))

    def _known(self, batch: str) -> Batch:
        with self.knowing(batch):
            return self._client.batches.retrieve(batch)

    def _refused(self, batch: Batch) -> tuple[RagassayError, bool]:
        """Why a batch failed its validation, and whether only because too much is queued already."""
        errors = (batch.errors.data if batch.errors else None) or []
        said = "; ".join(f"{error.code}: {error.message}" for error in errors) or "no reason given"
        if any(error.code == "token_limit_exceeded" for error in errors):
            return ProviderError(f"the batch was not taken ({short(said)})", retryable=True), True
        return InputError(f"{self._model}: the provider refused the batch ({short(said)})"), False

    def _item(self, line: str) -> Item | None:
        """A line of the output or the error file; None for one that cannot be read."""
        try:
            data = json.loads(line)
            key, response, error = data["custom_id"], data.get("response") or {}, data.get("error")
            status, body = response.get("status_code"), response.get("body")
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None
        if not isinstance(key, str):
            return None
        if error is None and status == 200 and isinstance(body, dict):
            return Item(key, body=body | BATCH_TIER)
        if isinstance(status, int) and status != 200:
            return Item(key, error=of_status(status, short(_message(body)), self._model))
        # never made: expired (worth another try), cancelled by a person, or anything else
        code, said = error.get("code") if isinstance(error, dict) else None, short(_message({"error": error}))
        unmade = ProviderError(f"{short(code or 'error')}: {said}", retryable=code != "batch_cancelled")
        return Item(key, error=unmade)


def _message(body: Any) -> object:
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict):
        return " ".join(str(error[name]) for name in ("code", "message") if error.get(name))
    return error or body
