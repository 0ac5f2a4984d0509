"""Answers in RAGElo's layout: a CSV file with the columns `qid`, `agent`, `answer`, and perhaps `query`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ragassay.errors import InputError
from ragassay.files import read_text
from ragassay.text import plain

_QUERY_ID = ("qid", "query_id")
_TEXT = ("query", "question")


class AnswerRow(NamedTuple):
    """One answer in a file, where it stands (1-based line), and which query it is for: by text where there is one."""

    line: int
    query_id: str | None
    query: str | None
    agent: str | None
    fields: dict[str, Any]


def read_ragelo(path: Path) -> list[AnswerRow]:
    """Every row of the file. Raises InputError with the line where it is not CSV or lacks a column or a cell."""
    rows = _rows(path)
    header_line, header = next(rows, (1, []))
    columns = [name.strip().lower() for name in header]
    id_column, text_column = _first(columns, _QUERY_ID), _first(columns, _TEXT)
    if "answer" not in columns or (id_column is None and text_column is None):
        known = ", ".join(plain(name) for name in columns) or "nothing"
        raise InputError(
            f"has the columns {known}", file=path, line=header_line, remedy="it needs answer and qid (or query)"
        )
    found = []
    for line, cells in rows:
        if len(cells) != len(columns):
            raise InputError(f"has {len(cells)} cells, the header has {len(columns)}", file=path, line=line)
        row = dict(zip(columns, cells, strict=True))
        query_id = row[id_column].strip() if id_column else None
        query = row[text_column].strip() if text_column else None
        agent = row.get("agent", "").strip() or None
        found.append(AnswerRow(line, query_id or None, query or None, agent, {"answer": row["answer"]}))
    return found


def _first(columns: list[str], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in columns), None)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """(line on which the row begins, cells) of each row that is not blank."""
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise InputError(f"is not CSV ({error})", file=path, line=line) from None
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield line, cells
