"""What two or more runs were made with, as their stages recorded it, and in what they differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_json

LONGEST = 160
"""Characters of a value that are shown."""

JUDGED_BY = ("judge.", "evaluate.", "prompt judge/", "prompt evaluate/", "judge_model", "judge_mode")
"""How the names of what decides a judge's labels begin."""


@dataclass(frozen=True)
class Differs:
    """A setting and its value in each run, in words; None where a run does not have it."""

    name: str
    values: tuple[str | None, ...]


def settings_of(workspace: Workspace) -> dict[str, str]:
    """Setting to value, from the manifests of the stages that have run; else from `results.json`.

    Documents and prompts are among them, each with the start of its digest, so that changed ones are seen.
    Where stages ran with several values of a setting, all are named.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(workspace.results.glob("manifests/*.json")):
        for name, value in _recorded(path.stem, _table(path)):
            found.setdefault(name, []).append(value)
    if not found and workspace.figures.exists():
        found = {name: [_words(value)] for name, value in _part(_table(workspace.figures), "settings").items()}
    return {name: " / ".join(dict.fromkeys(values)) for name, values in found.items()}


def _recorded(stage: str, manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from ((name, _words(value)) for name, value in _part(manifest, "settings").items())
    for name, digest in _part(manifest, "inputs").items():
        if stage == "ingest":
            yield f"document {name}", _words(digest)[:8]
        elif name.endswith(".md"):
            yield f"prompt {stage}/{name}", _words(digest)[:8]


def differing(runs: Sequence[Mapping[str, str]]) -> list[Differs]:
    """The settings that are not the same in all runs, by name."""
    names = sorted({name for run in runs for name in run})
    rows = [Differs(name, tuple(run.get(name) for run in runs)) for name in names]
    return [row for row in rows if len(set(row.values)) > 1]


def judged_otherwise(rows: Sequence[Differs]) -> bool:
    """Whether figures may have moved because something else, or otherwise, judged."""
    return any(row.name.startswith(JUDGED_BY) for row in rows)


def _table(path: Any) -> Mapping[str, Any]:
    """Nothing where the file cannot be read: a stage may be writing."""
    try:
        found = read_json(path)
    except InputError:
        return {}
    return found if isinstance(found, dict) else {}


def _part(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = table.get(name)
    return part if isinstance(part, dict) else {}


def _words(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
