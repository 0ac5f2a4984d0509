"""How far the stage that runs is, in `progress.json` beside its results, for whoever looks from another process.

The file is written at most once a second and is gone when the run has ended; what a kill has left is told by the lock
of the results folder, which nobody holds then.
"""

from __future__ import annotations

import fcntl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_json, write_json
from ragassay.progress import Counts, Outcome, Progress, StderrProgress
from ragassay.records import Record

EVERY_S = 1.0


class Standing(Record):
    """`progress.json`. what: in words what the stage is at. done, cached, failed: of total, so far.

    spent_usd: since the run began, None while no price is known. left_s: seconds at the pace so far, None while that is
    unknown.
    """

    stage: str
    what: str = ""
    total: int = 0
    done: int = 0
    cached: int = 0
    failed: int = 0
    spent_usd: float | None = None
    left_s: float | None = None


class WrittenProgress:
    """Tells another progress, and writes the same to a file. clock: seconds, a parameter so that tests are exact."""

    def __init__(self, path: Path, stage: str, told: Progress, clock: Callable[[], float] = time.monotonic) -> None:
        self._path, self._stage, self._told, self._clock = path, stage, told, clock
        self._what, self._counts, self._written = "", Counts(0, clock), float("-inf")
        self._lock = threading.Lock()

    def start(self, what: str, total: int) -> None:
        self._told.start(what, total)
        self._what, self._counts = what, Counts(total, self._clock)
        self._write()

    def advance(self, outcome: Outcome, spent_usd: float | None) -> None:
        self._told.advance(outcome, spent_usd)
        self._counts.advance(outcome, spent_usd)
        if self._clock() - self._written >= EVERY_S:
            self._write()

    def show(self) -> None:
        self._told.show()

    def waiting(self, model: str, done: int, failed: int, total: int) -> None:
        self._told.waiting(model, done, failed, total)

    def stop(self) -> None:
        self._told.stop()
        self._write()

    def _write(self) -> None:
        self._written, counts = self._clock(), self._counts
        with self._lock, suppress(OSError):  # what only tells of the work must not end it
            write_json(self._path, self._standing(counts).dump())

    def _standing(self, counts: Counts) -> Standing:
        return Standing(
            stage=self._stage,
            what=self._what,
            total=counts.total,
            **counts.counts,
            spent_usd=counts.spent_usd,
            left_s=counts.left_s(),
        )


def told_of(workspace: Workspace, stage: str) -> Progress:
    """What a stage of this workspace tells while it works: on stderr and in the file."""
    return WrittenProgress(workspace.progress, stage, StderrProgress())


@contextmanager
def standing_at(workspace: Workspace, stage: str) -> Iterator[None]:
    """The file says that the stage runs, until it has ended, however it ends."""
    write_json(workspace.progress, Standing(stage=stage).dump())
    try:
        yield
    finally:
        workspace.progress.unlink(missing_ok=True)


def read_standing(workspace: Workspace) -> Standing | None:
    """How far the stage is that runs now; None where none does, or the file cannot be read."""
    try:
        one = Standing.model_validate(read_json(workspace.progress)) if workspace.progress.exists() else None
    except (InputError, ValidationError):
        return None
    return one if one is not None and _is_held(workspace.results / ".lock") else None


def _is_held(lock: Path) -> bool:
    """Whether a run holds the lock; asked only where a run has said that it runs, so that none is kept from it."""
    try:
        with lock.open() as stream:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
