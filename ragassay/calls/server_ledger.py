"""`server-calls.jsonl`: every call of a server that embeds or reranks, and what those of a stage took together."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import ValidationError

from ..errors import InputError
from ..files import append_whole, json_line
from ..records import ServerCallRow, StageUsage
from .reply_cache import drop_torn_line, whole_lines


class ServerLedger:
    """The file, read when it is first asked for; for several threads."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._rows: list[ServerCallRow] | None = None

    def rows(self) -> list[ServerCallRow]:
        """Every call so far. Raises InputError, with the line, where one cannot be read."""
        with self._lock:
            return list(self._read())

    def add(self, row: ServerCallRow) -> None:
        """Append a call, on disk at once."""
        with self._lock:
            rows = self._read()
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab", buffering=0) as stream:
                drop_torn_line(self._path)
                append_whole(stream, json_line(row.dump()).encode())
            rows.append(row)

    def _read(self) -> list[ServerCallRow]:
        if self._rows is None:
            lines = whole_lines(self._path) if self._path.exists() else []
            self._rows = [_row(line, number, self._path) for number, line in lines]
        return self._rows


def _row(line: str, number: int, path: Path) -> ServerCallRow:
    try:
        return ServerCallRow.model_validate(json.loads(line))
    except (ValidationError, ValueError) as error:
        problem = f"is not a call of a server ({type(error).__name__})"
        raise InputError(
            problem, file=path, line=number, remedy="remove the line; its call is then not counted"
        ) from None


def usage_of_server(
    stage: str, model: str, rows: Sequence[ServerCallRow], cost: Callable[[ServerCallRow], float | None], n_failed: int
) -> StageUsage:
    """What the calls of a stage took of one model; `n_failed` of them came to nothing in this run."""
    costs = [cost(row) for row in rows]
    known = [one for one in costs if one is not None]
    tokens = [row.input_tokens for row in rows if row.input_tokens is not None]
    return StageUsage(
        stage=stage,
        model=model,
        calls=len(rows),
        n_failed=n_failed,
        n_unmeasured=len(costs) - len(known),
        input_tokens=sum(tokens) if tokens else None,
        output_tokens=None,
        cost_usd=round(sum(known), 6) if known else None,
    )
