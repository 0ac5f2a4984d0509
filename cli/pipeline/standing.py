"""How far the stage that runs is, in `progress.json` beside its results, for whoever looks from another process.

The file is written at most once a second and is gone when the run has ended; what a kill has left is told by the lock
of the results folder, which nobody holds then.
"""

from __future__ import annotations

import fcntl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_json, write_json
from ragassay.progress import Counts, Outcome, Progress, StderrProgress
from ragassay.records import Record
from ragassay.text import one_line

EVERY_S = 1.0
MOST_ERRORS = 6
"""Different sentences on what failed that the file holds, the most frequent first."""
KEPT_ERRORS = 1000
"""Different ones that are counted; those that come later are not."""
LONGEST = 300
"""Characters of a sentence that the file holds."""


class Standing(Record):
    """`progress.json`. what: in words what the stage is at. done, cached, failed: of total, so far.

    spent_usd: since the run began, None while no price is known. left_s: seconds at the pace so far, None while that is
    unknown. errors: what was wrong with those that failed since the stage began, each sentence with how many.
    """

    stage: str
    what: str = ""
    total: int = 0
    done: int = 0
    cached: int = 0
    failed: int = 0
    spent_usd: float | None = None
    left_s: float | None = None
    errors: tuple[tuple[str, int], ...] = ()


class WrittenProgress:
    """Tells another progress, and writes the same to a file. clock: seconds, a parameter so that tests are exact."""

    def __init__(self, path: Path, stage: str, told: Progress, clock: Callable[[], float] = time.monotonic) -> None:
        self._path, self._stage, self._told, self._clock = path, stage, told, clock
        self._what, self._counts, self._written = "", Counts(0, clock), float("-inf")
        self._lock = threading.Lock()
        self._errors: Counter[str] = Counter()

    def start(self, what: str, total: int) -> None:
        self._told.start(what, total)
        spent_usd, self._what = self._counts.spent_usd, what
        self._counts = Counts(total, self._clock)
        self._counts.spent_usd = spent_usd
        self._write()

    def advance(self, outcome: Outcome, spent_usd: float | None, error: str | None = None) -> None:
        self._told.advance(outcome, spent_usd, error)
        self._counts.advance(outcome, spent_usd)
        if error is not None:
            self._lost(one_line(error)[:LONGEST])
        if self._clock() - self._written >= EVERY_S:
            self._write()

    def show(self) -> None:
        self._told.show()

    def waiting(self, model: str, done: int, failed: int, total: int) -> None:
        self._told.waiting(model, done, failed, total)

    def stop(self) -> None:
        self._told.stop()
        self._write()

    def _lost(self, error: str) -> None:
        with self._lock:
            if error in self._errors or len(self._errors) < KEPT_ERRORS:
                self._errors[error] += 1

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
            errors=tuple(sorted(self._errors.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_ERRORS]),
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
    one = _read(workspace)
    return one if one is not None and _is_held(workspace.results / ".lock") else None


def read_broken_off(workspace: Workspace) -> Standing | None:
    """How far the stage was whose run was killed; None where none was, or a run is under way again."""
    one = _read(workspace)
    if one is None or _is_held(workspace.results / ".lock"):
        return None
    return one if workspace.progress.exists() else None  # it may have ended in between, as it should


def _read(workspace: Workspace) -> Standing | None:
    try:
        return Standing.model_validate(read_json(workspace.progress)) if workspace.progress.exists() else None
    except (InputError, ValidationError):
        return None


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
