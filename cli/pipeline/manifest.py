"""What a stage leaves behind so that the next run can tell whether it has to be run again, and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragassay.digests import digest_file
from ragassay.errors import InputError
from ragassay.experiment.workspace import StageOutcome
from ragassay.files import read_json, write_json
from ragassay.records import Record, StageUsage


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


def digests(paths: Sequence[Path], root: Path, digest: Callable[[Path], str] = digest_file) -> dict[str, str | None]:
    """SHA-256 of each file by its path relative to `root`, None for one that is not there or may not be read.

    digest: of one file that is there.

    One that lies elsewhere goes by its name, with as many of its folders before it as tell it from the others. They are
    in the order of their names, wherever the folders are.
    """
    found: dict[str, str | None] = {}
    for path in sorted(set(paths)):
        found[next(name for name in _names(path, root) if name not in found)] = _digest(path, digest)
    return dict(sorted(found.items()))


def _digest(path: Path, digest: Callable[[Path], str]) -> str | None:
    try:
        return digest(path) if path.is_file() else None
    except PermissionError:
        return None


def make_manifest(
    stage: str,
    inputs: Mapping[str, str | None],
    settings: Mapping[str, Any],
    outputs: Mapping[str, str | None],
    outcome: StageOutcome,
    usage: Sequence[StageUsage],
) -> Manifest:
    """The manifest of a stage that has just ended."""
    return Manifest(
        stage=stage,
        inputs=dict(inputs),
        settings=_plain(settings),
        outputs=dict(outputs),
        usage=tuple(usage),
        notices=outcome.notices,
        exit_status=outcome.exit_status,
        n_records=outcome.n_records,
        n_failed=outcome.n_failed,
    )


def read_manifest(path: Path) -> Manifest | None:
    """The manifest, or None where there is none or it cannot be read: the stage then simply runs."""
    if not path.exists():
        return None
    try:
        return Manifest.model_validate(read_json(path))
    except (InputError, ValidationError):
        return None


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write it, atomically."""
    write_json(path, manifest.dump())


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
            return f"{name}: {' is now '.join(_short(known.settings.get(name), now.get(name)))}"
    for name in sorted({*outputs, *known.outputs}):
        if name not in known.outputs and outputs[name] is None:
            return f"its output {name} is not there yet"  # it was made by a version that did not write it
        if outputs.get(name) != known.outputs.get(name):
            return f"its output {name} {_change(known.outputs.get(name), outputs.get(name))}"
    return None


def _change(before: str | None, after: str | None) -> str:
    return "is new" if before is None else "is gone" if after is None else "changed"


def _short(before: object, now: object) -> list[str]:
    """As JSON; of long ones some sixty characters, from shortly before the place where they begin to differ."""
    texts = [json.dumps(value, ensure_ascii=False) for value in (before, now)]
    same = len(list(takewhile(lambda pair: len(set(pair)) == 1, zip(*texts, strict=False))))
    start = max(0, same - 20)
    return [_cut(text, start if len(text) > 60 else 0) for text in texts]


def _cut(text: str, start: int) -> str:
    kept = text[start : start + 57] if len(text) - start > 60 else text[start:]
    return f"{'…' if start else ''}{kept}{'…' if start + len(kept) < len(text) else ''}"


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(json.dumps(settings))
    return loaded


def _names(path: Path, root: Path) -> Iterator[str]:
    """What a file may be called, the shortest first."""
    if path.is_relative_to(root):
        yield path.relative_to(root).as_posix()
    else:
        yield from ("/".join(path.parts[-count:]) for count in range(1, len(path.parts) + 1))
