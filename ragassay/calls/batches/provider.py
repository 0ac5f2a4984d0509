"""What a provider's batch API is to a run: files of requests, handed in and asked after, and results item by item.

And the record of them, `batches.jsonl` in the results folder.
"""

from __future__ import annotations

import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ValidationError

from ...errors import InputError, RagassayError
from ...experiment.tables import ModelSettings
from ...files import digest_json, first_problem, read_objects, write_text
from ...models.requests import Body, Request
from ...records import Record
from ...text import plain
from ..reply_cache import append, whole_lines

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
                try:
                    line = BatchLine.model_validate(json.loads(text))
                except ValidationError as error:
                    raise InputError(first_problem(error), file=path, line=number) from None
                except (ValueError, RecursionError) as error:
                    raise InputError(f"is not JSON ({error})", file=path, line=number) from None
                self._lines[line.name] = line

    def open_batches(self, model: str, base_url: str | None) -> list[BatchLine]:
        """The batches of a model whose results are not in the cache yet, oldest first."""
        return [
            line
            for line in self._lines.values()
            if line.state not in CLOSED and (line.model, line.base_url) == (model, base_url)
        ]

    def ids(self) -> set[str]:
        """Every batch id on record."""
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


@dataclass(frozen=True)
class Prepared:
    """What `create` and `find` go by: the id of the uploaded file, or of the newest batch before the one to come."""

    input_file: str | None = None
    newest: str | None = None


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
    def prepare(self, file: Path) -> Prepared:
        """The last step before `create`, which costs nothing."""

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
