"""JSON Lines as anybody writes and reads them, without the code under test."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """The file, with an object a line, in a folder that need not be there yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def records(path: Path) -> list[dict[str, Any]]:
    """The objects of a file, a line each."""
    lines = path.read_bytes().decode().split("\n")  # splitlines also cuts at signs that a text may hold
    return [json.loads(line) for line in lines if line]
