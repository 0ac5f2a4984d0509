"""What a provider's batch API is to a run: files of requests, handed in and asked after, and results item by item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ...errors import InputError, RagassayError
from ...models.requests import Body, Request
from ...text import plain
from .log import BatchLine


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


@dataclass(frozen=True)
class Prepared:
    """What `create` and `find` go by: the id of the uploaded file, or of the newest batch before the one to come."""

    input_file: str | None = None
    newest: str | None = None


class BatchProvider(Protocol):
    """OpenAI's Batch API or Anthropic's Message Batches. Every method but `line` may raise what the SDK raises."""

    @property
    def limits(self) -> Limits: ...

    def line(self, key: str, request: Request, shared: int = 0) -> dict[str, Any]:
        """The line of the request file; `custom_id` is the key, `shared` as in prompt_cache."""
        ...

    def prepare(self, file: Path) -> Prepared:
        """The last step before `create`, which costs nothing."""
        ...

    def create(self, file: Path, line: BatchLine) -> str:
        """Hand the batch in; its id."""
        ...

    def find(self, line: BatchLine, known: set[str]) -> str | None:
        """The id of a batch that was handed in for `line` though no answer came; `known` are the ids on record."""
        ...

    def standing(self, batch: str) -> Standing:
        """Where it stands. Raises InputError where the provider knows no such batch."""
        ...

    def items(self, batch: str) -> Iterator[Item]:
        """The results of a batch that has ended, in any order."""
        ...


def files_within(lines: Sequence[tuple[str, str]], limits: Limits) -> Iterator[list[tuple[str, str]]]:
    """(key, line of text) in parts that keep to `limits`, in order; a line that is too long stands by itself."""
    part: list[tuple[str, str]] = []
    size = 0
    for key, text in lines:
        length = len(text.encode("utf-8", "surrogatepass"))
        if part and (len(part) == limits.requests or size + length > limits.bytes):
            yield part
            part, size = [], 0
        part.append((key, text))
        size += length
    if part:
        yield part


NO_BATCH_API = frozenset({404, 405, 501})
"""HTTP statuses by which a server says that it has nothing at the batch API's address."""


def no_batch_api(model: str, base_url: str | None, status: int) -> InputError:
    """The error for a server, above all one of a user's own `base_url`, that takes no batches."""
    where = f"the server at {plain(base_url)}" if base_url else "the provider"
    return InputError(f"{model}: {where} has no batch API (status {status})", remedy='set mode = "direct"')


def gone(model: str, batch: str) -> InputError:
    """The error for a batch on record that the provider does not know: asking again is the user's to decide."""
    problem = f"{model}: the provider knows no batch {plain(batch)} (another key, or its results are past keeping)"
    remedy = "use the key that it was handed in with, or remove its lines from batches.jsonl to ask and pay again"
    return InputError(problem, remedy=remedy)
