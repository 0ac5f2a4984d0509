"""The speed table: what each benchmark was to reach, what it reached, and beside whom.

A benchmark calls `note`; when `python -m benchmarks` runs it, the row is kept in `results/aims.json`, and
`benchmarks/results.md` is written anew from all rows there are.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.machine import machine

RECORDING = "RAGASSAY_BENCH_AIMS"
"""The environment variable that names the file rows go to; without it they are only printed."""
STORE = Path(__file__).parents[1] / "results" / "aims.json"
TABLE = Path(__file__).parents[1] / "results.md"
ORDER = ("judging", "rerun", "pdf", "bm25", "knn", "embedding", "elo", "help", "soak")
"""In this order; rows of the same beginning stay together, others come last."""


@dataclass(frozen=True)
class Row:
    """A line of the table, in words. `ratio` is ours to the peer's or to the ideal; `missed` says why, None if met."""

    key: str
    what: str
    aim: str
    figure: str
    peer: str
    ratio: str
    missed: str | None
    command: str
    machine: str
    date: str
    load: float
    versions: str


def note(
    key: str,
    what: str,
    aim: str,
    figure: str,
    *,
    peer: str = "",
    ratio: str = "",
    missed: str | None = None,
    packages: Sequence[str] = (),
    command: str = "",
) -> None:
    """Print a row, and keep it where `python -m benchmarks` is what runs; `packages` are those whose version counts."""
    print(f"aim: {what}: {aim}: {'missed' if missed else 'met'} ({figure}{f', {ratio}' if ratio else ''})")
    if missed:
        print(f"     {missed}")
    store = os.environ.get(RECORDING)
    if store:
        row = Row(
            key=key,
            what=what,
            aim=aim,
            figure=figure,
            peer=peer,
            ratio=ratio,
            missed=missed,
            command=command or os.environ.get(f"{RECORDING}_COMMAND", ""),
            machine=machine(),
            date=f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
            load=float(os.environ.get(f"{RECORDING}_LOAD", "0")),
            versions=", ".join(f"{package} {_version(package)}" for package in packages),
        )
        rows = {**_rows(Path(store)), key: asdict(row)}
        Path(store).write_text(json.dumps(rows, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def why(*reasons: tuple[bool, str]) -> str | None:
    """The reasons that hold, joined; None where none does."""
    held = [reason for holds, reason in reasons if holds]
    return "; ".join(held) or None


def write_table(store: Path = STORE, table: Path = TABLE) -> None:
    """Write `benchmarks/results.md` from the rows in `store`; nothing where there are none."""
    rows = [Row(**row) for row in _rows(store).values()]
    if not rows:
        return
    rows.sort(key=lambda row: (_place(row.key), row.key))
    lines = [_HEAD, "| what | aim | ours | beside | ratio | |", "|---|---|---|---|---|---|"]
    for row in rows:
        lines.append(_line(row.what, row.aim, row.figure, row.peer, row.ratio, "missed" if row.missed else "met"))
    lines += ["", "Where an aim is missed, and why:", ""]
    lines += [f"- {row.what}: {row.missed}." for row in rows if row.missed] or ["- none."]
    lines += ["", "| what | command | machine | date | load before | versions |", "|---|---|---|---|---|---|"]
    lines += [_line(r.what, f"`{r.command}`", r.machine, r.date, f"{r.load:.1f}", r.versions) for r in rows]
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")


_HEAD = """# Speed, and what it was to be

Written by `make bench`; what each benchmark printed stands in [results/](results). Every figure was taken in the same
run as its peer's. The load is the machine's average of the minute before (a load of 2 fills both of its cores).
"""


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


def _place(key: str) -> int:
    return next((number for number, start in enumerate(ORDER) if key.startswith(start)), len(ORDER))


def _rows(store: Path) -> dict[str, dict[str, object]]:
    rows: dict[str, dict[str, object]] = json.loads(store.read_text()) if store.exists() else {}
    return rows


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


if __name__ == "__main__":
    write_table()
