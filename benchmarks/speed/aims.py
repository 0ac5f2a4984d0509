"""The speed table: what each benchmark was to reach, what it reached, and beside whom.

A benchmark calls `note`, which prints a line, and further lines below it that begin with five blanks:

    aim: WHAT: WHAT IT WAS TO BE: met (FIGURE, RATIO)
         beside PEER
         with PACKAGE VERSION, …
         WHY IT WAS MISSED

`benchmarks/results.md` is made of these lines in the results files, and of nothing else: `python -m benchmarks aims`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "results"
TABLE = Path(__file__).parents[1] / "results.md"

_LINE = re.compile(r"aim: (?P<aim>.+): (?P<told>met|missed) \((?P<figure>.*)\)")
_BELOW, _BESIDE, _WITH = "     ", "beside ", "with "
_HEAD = """# Speed, and what it was to be

Written by `python -m benchmarks aims`, and by `make bench`, from the lines that begin with `aim:` in the results files.
Each of these says on which machine it was made, when, and how busy that was. Every figure was taken in the same run as
its peer's.
"""


@dataclass(frozen=True)
class Row:
    """A line of the table, in words. `missed` says why, None if met. results: the file, below the folder of results."""

    aim: str
    figure: str
    beside: str
    missed: str | None
    results: str


def note(
    what: str,
    aim: str,
    figure: str,
    *,
    peer: str = "",
    ratio: str = "",
    missed: str | None = None,
    packages: Sequence[str] = (),
) -> None:
    """Print a row; `ratio` is ours to the peer's or to the ideal, `packages` are those whose version counts."""
    print(f"aim: {what}: {aim}: {'missed' if missed else 'met'} ({figure}{f', {ratio}' if ratio else ''})")
    if peer:
        print(f"{_BELOW}{_BESIDE}{peer}")
    if packages:
        print(f"{_BELOW}{_WITH}{', '.join(f'{package} {_version(package)}' for package in packages)}")
    if missed:
        print(f"{_BELOW}{missed}")


def why(*reasons: tuple[bool, str]) -> str | None:
    """The reasons that hold, joined; None where none does."""
    held = [reason for holds, reason in reasons if holds]
    return "; ".join(held) or None


def rows_of(results: Path) -> list[Row]:
    """A row for each `aim:` line of the files in the folder, by file and line."""
    files = sorted(results.rglob("*.md"))
    return [row for path in files for row in _rows(path.read_text("utf-8"), path.relative_to(results).as_posix())]


def table_of(results: Path) -> str:
    """The page."""
    rows = rows_of(results)
    lines = [_HEAD, "| what, and what it was to be | ours | beside | | results |", "|---|---|---|---|---|"]
    for row in rows:
        told = "missed" if row.missed is not None else "met"
        lines.append(_line(row.aim, row.figure, row.beside, told, f"[{row.results}](results/{row.results})"))
    lines += ["", "Where an aim is missed, and why:", ""]
    lines += [f"- {row.aim}: {row.missed}." for row in rows if row.missed is not None] or ["- none."]
    return "\n".join(lines) + "\n"


def write_table() -> None:
    """Write `benchmarks/results.md`."""
    TABLE.write_text(table_of(RESULTS), encoding="utf-8")


def _rows(text: str, name: str) -> Iterator[Row]:
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if found := _LINE.fullmatch(line):
            below = []
            for one in lines[number + 1 :]:
                if not one.startswith(_BELOW):
                    break
                below.append(one.strip())
            beside = next((one.removeprefix(_BESIDE) for one in below if one.startswith(_BESIDE)), "")
            reasons = "; ".join(one for one in below if not one.startswith((_BESIDE, _WITH)))
            missed = (reasons or "no reason given") if found["told"] == "missed" else None
            yield Row(found["aim"], found["figure"], beside, missed, name)


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
