"""`batches.jsonl`: which batches were handed in, written before and after every step, so that a kill loses none.

A line is added for each step of a batch and the last one counts: `planned` (nothing sent), `ready` (nothing left to
do before it is created), `submitted`, then the provider's own words (`validating`, `in_progress`, `completed`, …), and
at the end `collected` (its results are in the reply cache), `refused` (the provider took none of it), `dropped` (it
never reached the provider) or `another's` (what was found in its place was not ours).
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from ...digests import digest_json
from ...errors import InputError
from ...files import append_whole, first_problem, json_line, read_objects, write_text
from ...records import Record
from ..reply_cache import drop_torn_line, whole_lines

CLOSED = {"collected", "refused", "dropped", "another's"}


class BatchLine(Record):
    """A line of `batches.jsonl`.

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
        self._mended = False
        if path.exists():
            for number, text in whole_lines(path):
                line = _parsed(text, path, number)
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
        line = BatchLine(
            name=name,
            model=model,
            base_url=base_url,
            digest=digest,
            n=len(keys),
            state="planned",
            at=round(time.time(), 3),
        )
        return self.write(line)

    def write(self, line: BatchLine) -> BatchLine:
        """Add a line, on disk before anything else happens; the request file of a closed batch goes."""
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab", buffering=0) as stream:
                if not self._mended:
                    drop_torn_line(self.path)
                    self._mended = True
                append_whole(stream, json_line(line.dump()).encode())
                os.fsync(stream.fileno())
            self._lines[line.name] = line
        if line.state in CLOSED:
            self.requests(line.name).unlink(missing_ok=True)
        return line


def _parsed(text: str, path: Path, number: int) -> BatchLine:
    try:
        return BatchLine.model_validate(json.loads(text))
    except ValidationError as error:
        raise InputError(first_problem(error), file=path, line=number) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON ({error})", file=path, line=number) from None
