"""What a stage leaves behind so that the next run can tell whether it has to be run again, and why."""

from __future__ import annotations

import fcntl
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.experiment.stage import Stage
from ragassay.experiment.workspace import StageOutcome, Standing, Workspace
from ragassay.files import digest_file, read_json, write_json
from ragassay.progress import Counts, Outcome, StderrProgress
from ragassay.records import Record, StageUsage
from ragassay.text import one_line

R = TypeVar("R", bound=Record)


class Manifest(Record):
    """`manifests/STAGE.json`: contents and settings a stage was run with, what it made, and what it said.

    Inputs and outputs are SHA-256 by path (None: the file was not there). No times: a rerun gives the same bytes.
    """

    format: int = 1
    stage: str
    inputs: dict[str, str | None]
    settings: dict[str, Any]
    outputs: dict[str, str | None]
    usage: tuple[StageUsage, ...] = ()
    notices: tuple[str, ...] = ()
    exit_status: int = 0
    n_records: int = 0
    n_failed: int = 0


Digest = Callable[[Path], str]
"""Of one file that is there."""


def digests(paths: Sequence[Path], root: Path, digest: Digest = digest_file) -> dict[str, str | None]:
    """SHA-256 of each file by its path relative to `root`, None for one that is not there or may not be read.

    One that lies elsewhere goes by its name, with as many of its folders before it as tell it from the others. They are
    in the order of their names, wherever the folders are.
    """
    found: dict[str, str | None] = {}
    for path in sorted(set(paths)):
        names = ["/".join(path.parts[-count:]) for count in range(1, len(path.parts) + 1)]
        if path.is_relative_to(root):
            names = [path.relative_to(root).as_posix()]
        name = next(name for name in names if name not in found)
        try:
            found[name] = digest(path) if path.is_file() else None
        except PermissionError:
            found[name] = None
    return dict(sorted(found.items()))


def write_manifest(
    workspace: Workspace,
    stage: Stage,
    inputs: Mapping[str, str | None],
    outcome: StageOutcome,
    usage: Sequence[StageUsage] = (),
) -> Manifest:
    """Write the manifest of a stage that has just ended; gives it."""
    manifest = Manifest(
        stage=stage.name,
        inputs=dict(inputs),
        settings=_plain(stage.settings(workspace.experiment)),
        outputs=digests(stage.makes(workspace), workspace.results),
        usage=(*usage, *outcome.usage),
        notices=outcome.notices,
        exit_status=outcome.exit_status,
        n_records=outcome.n_records,
        n_failed=outcome.n_failed,
    )
    write_json(workspace.manifests / f"{stage.name}.json", manifest.dump())
    return manifest


def read_manifest(workspace: Workspace, stage: Stage) -> Manifest | None:
    """The manifest, or None where there is none or it cannot be read: the stage then simply runs."""
    return _read(workspace.manifests / f"{stage.name}.json", Manifest)


def _read(path: Path, kind: type[R]) -> R | None:
    try:
        return kind.model_validate(read_json(path)) if path.exists() else None
    except (InputError, ValidationError):
        return None


def inputs_of(stage: Stage, workspace: Workspace, digest: Digest = digest_file) -> dict[str, str | None]:
    """The digests of what a stage needs and uses. Raises InputError where that cannot be told."""
    return digests([*stage.needs(workspace), *stage.uses(workspace)], workspace.results, digest)


def why_stale(
    known: Manifest | None,
    stage: Stage,
    workspace: Workspace,
    inputs: Mapping[str, str | None],
    digest: Digest = digest_file,
) -> str | None:
    """The reason to run a stage with these inputs, in words; None where it is up to date."""
    made = digests(stage.makes(workspace), workspace.results, digest)
    return why_run(known, inputs, stage.settings(workspace.experiment), made)


def why_run(
    known: Manifest | None,
    inputs: Mapping[str, str | None],
    settings: Mapping[str, Any],
    outputs: Mapping[str, str | None],
) -> str | None:
    """The reason to run a stage in words, or None where it is up to date."""
    if known is None:
        return "not run yet"
    for name in sorted({*inputs, *known.inputs}):
        if inputs.get(name) != known.inputs.get(name):
            return f"{name} {_change(known.inputs.get(name), inputs.get(name))}"
    now = _plain(settings)
    for name in sorted({*now, *known.settings}):
        if now.get(name) != known.settings.get(name):
            return f"{name}: {_both(known.settings.get(name), now.get(name))}"
    for name in sorted({*outputs, *known.outputs}):
        if name not in known.outputs and outputs[name] is None:
            return f"its output {name} is not there yet"  # it was made by a version that did not write it
        if outputs.get(name) != known.outputs.get(name):
            return f"its output {name} {_change(known.outputs.get(name), outputs.get(name))}"
    return None


def _change(before: str | None, after: str | None) -> str:
    return "is new" if before is None else "is gone" if after is None else "changed"


def _both(before: object, now: object) -> str:
    """Both as JSON; of long ones some sixty characters, from shortly before the place where they begin to differ."""
    texts = [json.dumps(value, ensure_ascii=False) for value in (before, now)]
    same = len(list(takewhile(lambda pair: len(set(pair)) == 1, zip(*texts, strict=False))))
    shown = []
    for text in texts:
        start = max(0, same - 20) if len(text) > 60 else 0
        kept = text[start : start + 57] if len(text) - start > 60 else text[start:]
        shown.append(f"{'…' if start else ''}{kept}{'…' if start + len(kept) < len(text) else ''}")
    return " is now ".join(shown)


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(json.dumps(settings))
    return loaded


EVERY_S = 1.0
"""How often at most `progress.json` is written. It is gone when the run has ended; what a kill has left is told by the
lock of the results folder, which nobody holds then."""
MOST_ERRORS = 6
"""Different sentences on what failed that the file holds, the most frequent first."""
KEPT_ERRORS = 1000
"""Different ones that are counted; those that come later are not."""
LONGEST = 300
"""Characters of a sentence that the file holds."""


class WrittenProgress(StderrProgress):
    """Tells on stderr, and writes the same to a file. clock: seconds, a parameter so that tests are exact."""

    def __init__(self, path: Path, stage: str, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._path, self._stage, self._clock = path, stage, clock
        self._so_far, self._written = Counts(0, clock), float("-inf")
        self._lock, self._errors = threading.Lock(), Counter[str]()

    def start(self, what: str, total: int) -> None:
        super().start(what, total)
        spent_usd, self._so_far = self._so_far.spent_usd, Counts(total, self._clock)
        self._so_far.spent_usd = spent_usd  # since the run began
        self._write()

    def advance(self, outcome: Outcome, spent_usd: float | None, error: str | None = None) -> None:
        super().advance(outcome, spent_usd, error)
        self._so_far.advance(outcome, spent_usd)
        if error is not None:
            said = one_line(error)[:LONGEST]
            with self._lock:
                if said in self._errors or len(self._errors) < KEPT_ERRORS:
                    self._errors[said] += 1
        if self._clock() - self._written >= EVERY_S:
            self._write()

    def stop(self) -> None:
        super().stop()
        self._write()

    def _write(self) -> None:
        self._written, counts = self._clock(), self._so_far
        with self._lock, suppress(OSError):  # what only tells of the work must not end it
            now = Standing(
                stage=self._stage,
                what=self._what,
                total=counts.total,
                **counts.counts,
                spent_usd=counts.spent_usd,
                left_s=counts.left_s(),
                errors=tuple(sorted(self._errors.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_ERRORS]),
            )
            write_json(self._path, now.dump())


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
    one = _read(workspace.progress, Standing)
    return one if one is not None and _is_held(workspace.results / ".lock") else None


def read_broken_off(workspace: Workspace) -> Standing | None:
    """How far the stage was whose run was killed; None where none was, or a run is under way again."""
    one = _read(workspace.progress, Standing)
    if one is None or _is_held(workspace.results / ".lock"):
        return None
    return one if workspace.progress.exists() else None  # it may have ended in between, as it should


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
