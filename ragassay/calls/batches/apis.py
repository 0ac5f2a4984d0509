"""What a provider's batch API is to a run: files of requests, handed in and asked after, and results item by item.

Anthropic's Message Batches and OpenAI's Batch API, and the record of what was handed in, `batches.jsonl` in the results
folder.
"""

from __future__ import annotations

import json
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ...errors import InputError, ProviderError, RagassayError
from ...experiment.tables import ModelSettings
from ...files import digest_json, json_of, read_objects, record_of, write_text
from ...models.endpoint import Endpoint, anthropic_tool
from ...models.providers import anthropic_client, anthropic_content, of_status, openai_client, short
from ...models.requests import BATCH_TIER, Body, Request
from ...records import Record
from ...text import plain
from ..register import input_line
from ..reply_cache import append, body_of_message, whole_lines

if TYPE_CHECKING:
    from anthropic import Anthropic
    from anthropic.types.messages import MessageBatch
    from openai import OpenAI
    from openai.types import Batch

CLOSED = {"collected", "refused", "dropped", "another's"}


class BatchLine(Record):
    """A line of `batches.jsonl`: one is added for each step of a batch, and the last one counts.

    state: `planned` (nothing sent), `ready` (nothing left to do before it is created), `submitted`, then the provider's
    own words (`validating`, `in_progress`, `completed`, …), and at the end `collected` (its results are in the reply
    cache), `refused` (the provider took none of it), `dropped` (it never reached the provider) or `another's` (what was
    found in its place was not ours).
    name: of the batch and its request file; digest: SHA-256 of its sorted keys, n how many; at: seconds since 1970;
    newest: the provider's newest batch before it; batch, input_file: the provider's ids.
    """

    name: str
    model: str
    base_url: str | None
    digest: str
    n: int
    state: str
    at: float
    newest: str | None = None
    input_file: str | None = None
    batch: str | None = None


class BatchLog:
    """The record of one results folder; for several threads. `folder` holds the request files of open batches."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path, self._folder, self._lock = path, folder, threading.Lock()
        self._lines: dict[str, BatchLine] = {}
        if path.exists():
            for number, text in whole_lines(path):
                line = record_of(json_of(text, path, number), BatchLine, path, number)
                self._lines[line.name] = line

    def open_batches(self, model: str, base_url: str | None) -> list[BatchLine]:
        """The batches of a model whose results are not in the cache yet, oldest first."""
        with self._lock:
            ours = [line for line in self._lines.values() if (line.model, line.base_url) == (model, base_url)]
        return [line for line in ours if line.state not in CLOSED]

    def ids(self) -> set[str]:
        """Every batch id on record."""
        with self._lock:
            return {line.batch for line in self._lines.values() if line.batch}

    def requests(self, name: str) -> Path:
        """The request file of a batch."""
        return self._folder / f"{name}.jsonl"

    def keys(self, line: BatchLine) -> list[str]:
        """The keys of its requests. Raises InputError where its request file is gone or is another's."""
        file = self.requests(line.name)
        remedy = f"put it back, or remove the lines of {line.name} from {self.path} to ask and pay again"
        if not file.exists():
            raise InputError("the requests of an open batch are gone", file=file, remedy=remedy)
        keys = [str(value.get("custom_id")) for _, value in read_objects(file)]
        if digest_json(sorted(keys)) != line.digest:
            raise InputError("holds other requests than the batch that was handed in", file=file, remedy=remedy)
        return keys

    def plan(self, model: str, base_url: str | None, part: Sequence[tuple[str, str]]) -> BatchLine:
        """Record that (key, line of text) are about to be handed in; their file is written."""
        keys = sorted(key for key, _ in part)
        digest = digest_json(keys)
        with self._lock:
            again = sum(line.digest == digest for line in self._lines.values())
            name = f"{digest[:16]}-{again + 1}"
        write_text(self.requests(name), "".join(text for _, text in part))
        n, at = len(keys), round(time.time(), 3)
        return self.write(
            BatchLine(name=name, model=model, base_url=base_url, digest=digest, n=n, state="planned", at=at)
        )

    def write(self, line: BatchLine) -> BatchLine:
        """Add a line, on disk before anything else happens; the request file of a closed batch goes."""
        with self._lock:
            append(self.path, line.dump(), sync=True)
            self._lines[line.name] = line
        if line.state in CLOSED:
            self.requests(line.name).unlink(missing_ok=True)
        return line

    def step(self, line: BatchLine, **changed: Any) -> BatchLine:
        """`write` the line with what has changed."""
        return self.write(line.model_copy(update=changed))


@dataclass(frozen=True)
class Limits:
    """What one batch may hold: requests, and bytes of the file that they are in."""

    requests: int
    bytes: int


@dataclass(frozen=True)
class Standing:
    """Where a batch stands: `state` in the provider's word, and how many of its requests are done and have failed.

    `ended`: no result will be added. `refused`: why the batch as a whole was not taken; nothing of it was asked or
    paid then, and `queue_full` says that it may be taken later, or in smaller parts.
    """

    state: str
    ended: bool
    n_done: int = 0
    n_failed: int = 0
    refused: RagassayError | None = None
    queue_full: bool = False


@dataclass(frozen=True)
class Item:
    """What came of one request of a batch: the body, or why there is none."""

    key: str
    body: Body | None = None
    error: RagassayError | None = None


class BatchProvider(ABC):
    """OpenAI's Batch API or Anthropic's Message Batches, for one model. Every method but `line` may raise what the SDK
    raises."""

    limits: ClassVar[Limits]

    def __init__(self, model: str, settings: ModelSettings, base_url: str | None) -> None:
        self._model, self._settings, self._base_url = model, settings, base_url

    @abstractmethod
    def line(self, key: str, request: Request, shared: int = 0) -> dict[str, Any]:
        """The request as a direct call would make it, for the request file; `custom_id` is the key.

        shared: how many characters of the first user message others begin with too.
        """

    @abstractmethod
    def prepare(self, file: Path) -> dict[str, str | None]:
        """The last step before `create`, which costs nothing; what `create` and `find` go by, as fields of a BatchLine:
        the id of the uploaded file, or of the newest batch before the one to come."""

    @abstractmethod
    def create(self, file: Path, line: BatchLine) -> str:
        """Hand the batch in; its id."""

    @abstractmethod
    def find(self, line: BatchLine, known: set[str]) -> str | None:
        """The id of a batch that was handed in for `line` though no answer came; `known` are the ids on record."""

    @abstractmethod
    def standing(self, batch: str) -> Standing:
        """Where it stands. Raises InputError where the provider knows no such batch."""

    @abstractmethod
    def items(self, batch: str) -> Iterator[Item]:
        """The results of a batch that has ended, in any order."""

    @contextmanager
    def having_batches(self) -> Iterator[None]:
        """Raises InputError where a server, above all one of a user's own `base_url`, says inside that it has nothing
        at the batch API's address (HTTP status 404, 405 or 501)."""
        try:
            yield
        except Exception as error:
            status = getattr(error, "status_code", None)
            if status not in {404, 405, 501}:
                raise
            where = f"the server at {plain(self._base_url)}" if self._base_url else "the provider"
            said = f"{self._model}: {where} has no batch API (status {status})"
            raise InputError(said, remedy='set mode = "direct"') from None

    @contextmanager
    def knowing(self, batch: str) -> Iterator[None]:
        """Raises InputError where the provider says inside that it does not know the batch on record (status 404)."""
        try:
            yield
        except Exception as error:
            if getattr(error, "status_code", None) != 404:
                raise
            raise self.gone(batch) from None

    def gone(self, batch: str) -> InputError:
        """The error for a batch on record that the provider does not know: asking again is the user's to decide."""
        known = f"{self._model}: the provider knows no batch {plain(batch)}"
        remedy = "use the key that it was handed in with, or remove its lines from batches.jsonl to ask and pay again"
        return InputError(f"{known} (another key, or its results are past keeping)", remedy=remedy)


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

    def prepare(self, file: Path) -> dict[str, str | None]:
        """Ask for the newest batch: batches carry no name, and the one before tells which came after."""
        del file
        with self.having_batches():
            return {"newest": next((batch.id for batch in self._client.messages.batches.list(limit=1)), None)}

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

    def prepare(self, file: Path) -> dict[str, str | None]:
        """Upload the requests."""
        with self.having_batches(), file.open("rb") as stream:
            made = self._client.files.create(file=(f"ragassay-{file.name}", stream), purpose="batch")
        return {"input_file": made.id}

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
