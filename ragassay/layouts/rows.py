"""The rows of a file of anybody's, whatever holds them: JSON Lines, a JSON list or an object with one, CSV or TSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError
from ..files import read_json, read_objects, read_text
from ..text import csv_text, plain

LISTS = ("goldens", "samples", "examples", "test_cases", "traces", "data")
"""Where one object holds a data set, the field that has its rows."""

TABLES = frozenset((".csv", ".tsv", ".tab"))
_LONGEST_CELL = 10_000_000


class Row(NamedTuple):
    """One row: `number` counts from 1; line is that of the file, None in a JSON list."""

    number: int
    line: int | None
    fields: Mapping[str, Any]

    @property
    def place(self) -> str:
        """What a message about it begins with: nothing where there is a line."""
        return "" if self.line else f"item {self.number}: "


def read_rows(path: Path, remedy: str | None = None) -> Iterator[Row]:
    """Every row: `.csv`, `.tsv` and `.tab` are tables, `.json` may be one list, anything else is JSON Lines.

    remedy: what to say of an item that is no object. Raises InputError with the line, where there is one.
    """
    suffix = path.suffix.lower()
    if suffix in TABLES:
        yield from table_rows(path, "," if suffix == ".csv" else "\t")
    elif (suffix == ".json" and read_text(path).lstrip()[:1] == "[") or _is_object_of_list(path):
        for number, value in enumerate(_list_of(path), 1):
            if not isinstance(value, dict):
                raise InputError(f"item {number} is not a JSON object", file=path, remedy=remedy)
            yield Row(number, None, value)
    else:
        for number, (line, value) in enumerate(_objects(path), 1):
            yield Row(number, line, value)


def header_of(path: Path) -> list[str]:
    """The names in the first line of a table; empty where there is none."""
    return next((cells for _, cells in _cells(path, "," if path.suffix.lower() == ".csv" else "\t")), [])


def _objects(path: Path) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """JSON Lines, or the one object of a `.json` file that stands over several lines."""
    if path.suffix.lower() == ".json" and isinstance(value := _whole(path), dict):
        yield 1, value
    else:
        yield from read_objects(path)


def _whole(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError):
        return None


def _is_object_of_list(path: Path) -> bool:
    """Whether it is one JSON object over several lines, as DeepEval and others write data sets."""
    if path.suffix.lower() != ".json":
        return False
    value = _whole(path)
    return isinstance(value, dict) and any(isinstance(value.get(name), list) for name in LISTS)


def _list_of(path: Path) -> Sequence[Any]:
    value = read_json(path)
    found = (
        next((value[name] for name in LISTS if isinstance(value.get(name), list)), [])
        if isinstance(value, dict)
        else value
    )
    return found if isinstance(found, list) else []


def table_rows(path: Path, delimiter: str) -> Iterator[Row]:
    """The rows of a table with a header, blank ones left out. Raises InputError with the line.

    An apostrophe before what a spreadsheet might run is taken away (`text.csv_text`).
    """
    rows = _cells(path, delimiter)
    first, header = next(rows, (1, []))
    if twice := [name for name in header if name and header.count(name) > 1]:
        raise InputError(f"has two columns '{plain(twice[0])}'", file=path, line=first)
    for number, (line, cells) in enumerate(rows, 1):
        if len(cells) != len(header):
            raise InputError(f"has {len(cells)} cells, the header has {len(header)}", file=path, line=line)
        yield Row(number, line, dict(zip(header, map(csv_text, cells), strict=True)))


def _cells(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(line on which the row begins, cells) of each row that is not blank; the first is the header, stripped."""
    csv.field_size_limit(_LONGEST_CELL)
    text = read_text(path)
    first = text.split("\n", 1)[0]
    semicolons = delimiter == "," and ";" in first and "," not in first
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=";" if semicolons else delimiter, strict=True)
    header = True
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise InputError(f"is not CSV ({error})", file=path, line=line) from None
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield line, [cell.strip() for cell in cells] if header else cells
            header = False
