"""The questions that people accepted on the sheet of a check, written back in the layout that the set came in."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ragassay.errors import InputError
from ragassay.files import read_json, read_text, write_text
from ragassay.layouts.rows import LISTS, table_rows
from ragassay.perturbed import original_of
from ragassay.text import plain, safe_cell

from .test_set import Item, read_test_set

VERDICTS = ("accept", "reject")
_NEEDED = ("id", "row", "verdict")


def write_accepted(path: Path, sheet: Path, out: Path) -> tuple[int, int]:
    """Write to `out` the questions of the set `path` that `sheet` accepts; how many those are, and of how many.

    Lines and rows of a table are copied as they stand, items of a JSON list written anew; what `ragassay perturb` made
    of a question goes with it. Raises InputError, with the line of the sheet, for a verdict that is neither accept nor
    reject, a row that is not the set's, twice or missing.
    """
    if out.resolve() in (path.resolve(), sheet.resolve()):
        raise InputError("would be overwritten", file=out, remedy="name another file with --out")
    items = read_test_set(path)
    accepted = _accepted(items, sheet)
    if not accepted:
        raise InputError("accepts no question", file=sheet, remedy="write accept into the column verdict of some row")
    write_text(out, _listed(path, accepted) if items[0].line is None else _copied(path, items, accepted))
    return len(accepted), len(items)


def _accepted(items: Sequence[Item], sheet: Path) -> list[Item]:
    found: dict[int, bool] = {}
    for _, line, cells in table_rows(sheet, ","):
        missing = next((name for name in _NEEDED if name not in cells), None)
        if missing:
            raise InputError(f"has no column {missing}", file=sheet, remedy="give the sheet that check --out wrote")
        item = _item_of(items, cells, sheet, line)
        if item.row in found:
            raise InputError(f"has row {item.row} of the set a second time", file=sheet, line=line, remedy="delete one")
        found[item.row] = _verdict(str(cells["verdict"]), sheet, line)
    verdicts = {item.id: found[item.row] for item in items if item.row in found}
    made = {item.row: original for item in items if (original := original_of(item.metadata)) is not None}
    found = {row: verdicts.get(original, False) for row, original in made.items()} | found
    left = [item for item in items if item.row not in found]
    if left:
        problem = f"lacks {len(left)} of the set's {len(items)} questions, first '{plain(left[0].id)}'"
        raise InputError(problem, file=sheet, remedy="keep every row, and write reject where a question is to go")
    return [item for item in items if found[item.row]]


def _item_of(items: Sequence[Item], cells: Any, sheet: Path, line: int | None) -> Item:
    number = str(cells["row"]).strip()
    known = number.isascii() and number.isdigit() and len(number) < 10 and 1 <= int(number) <= len(items)
    if not known or cells["id"] != safe_cell(items[int(number) - 1].id):
        problem = f"'{plain(str(cells['id'])[:60])}' is not question {plain(number[:20]) or '(blank)'} of the set"
        raise InputError(problem, file=sheet, line=line, remedy="give the sheet of this set, its id and row unchanged")
    return items[int(number) - 1]


def _verdict(cell: str, sheet: Path, line: int | None) -> bool:
    verdict = cell.strip().lower()
    if verdict not in VERDICTS:
        problem = f"the verdict is '{plain(cell[:60])}'" if verdict else "has no verdict"
        raise InputError(problem, file=sheet, line=line, remedy="write accept or reject")
    return verdict == VERDICTS[0]


def _copied(path: Path, items: Sequence[Item], accepted: Sequence[Item]) -> str:
    """What stands before the first item, and the lines of those accepted, each up to where the next one begins."""
    table = path.suffix.lower() in {".csv", ".tsv"}
    text = read_text(path)
    lines = list(io.StringIO(text, newline="")) if table else [f"{line}\n" for line in text.split("\n")]
    starts = [(item.line or 1) - 1 for item in items] + [len(lines)]
    kept = [_ended("".join(lines[starts[item.row - 1] : starts[item.row]])) for item in accepted]
    return "".join([*lines[: starts[0]], *kept])


def _ended(lines: str) -> str:
    """Without blank lines at its end, which a table's last cell does not have, and with one line end."""
    end = "\r\n" if lines.endswith("\r\n") else "\n"
    return lines.rstrip("\r\n") + end


def _listed(path: Path, accepted: Sequence[Item]) -> str:
    value = read_json(path)
    rows = {item.row for item in accepted}

    def kept(values: Sequence[Any]) -> list[Any]:
        return [one for number, one in enumerate(values, 1) if number in rows]

    if isinstance(value, dict):
        name = next(name for name in LISTS if isinstance(value.get(name), list))
        value = {**value, name: kept(value[name])}
    else:
        value = kept(value)
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
