"""Tables of labels from elsewhere: CSV, TSV or JSON Lines with a column a rater, and two files of TREC qrels."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from math import isfinite
from pathlib import Path
from typing import Literal

from ragassay.errors import InputError
from ragassay.files import read_objects, read_qrels, read_text
from ragassay.text import plain

Label = float | str
MISSING = frozenset({"", "na", "n/a", "nan", "null"})
"""What counts as no label, in any case of letters; so does JSON's null, and a key that a line lacks."""

QUERY_COLUMNS = ("query_id", "qid", "query")
_LONGEST_CELL = 10_000_000


@dataclass(frozen=True)
class LabelTable:
    """`rows`: (line, column to cell as text, "" where it is empty)."""

    file: str
    columns: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]


@dataclass(frozen=True)
class Ratings:
    """`labels[r][i]` is rater r's label of subject i, None where it is missing; `clusters[i]` the subject's query.

    numeric: whether the labels are numbers (else all are words). by: the column that tells the queries, None where
    each row stands alone.
    """

    file: str
    raters: tuple[str, ...]
    labels: tuple[tuple[Label | None, ...], ...]
    clusters: tuple[str, ...]
    numeric: bool
    by: str | None


def read_labels(path: Path) -> LabelTable:
    """The table in `path`: `.jsonl` is JSON Lines, `.tsv` has tabs, anything else commas (tabs where its header has).

    Raises InputError, with the line, for a file without rows, a column named twice and a row of another length.
    """
    if path.suffix.lower() in {".jsonl", ".ndjson"}:
        return _from_objects(path)
    text = read_text(path)
    tabs = path.suffix.lower() in {".tsv", ".tab"} or "\t" in text.split("\n", 1)[0]
    (_, header), *rows = _cells(path, text, "\t" if tabs else ",") or [(1, [])]
    columns = tuple(name.strip() for name in header)
    if twice := [name for name in columns if columns.count(name) > 1]:
        raise InputError(f"has two columns '{plain(twice[0])}'", file=path, line=1)
    table = []
    for line, cells in rows:
        if len(cells) != len(columns):
            raise InputError(f"has {len(cells)} cells, the header {len(columns)}", file=path, line=line)
        table.append((line, dict(zip(columns, (cell.strip() for cell in cells), strict=True))))
    if not table:
        raise InputError("has no rows of labels", file=path)
    return LabelTable(str(path), columns, tuple(table))


def _cells(path: Path, text: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """(line, cells). Where tabs divide, a quotation mark that opens no proper quotation is a letter like others."""
    csv.field_size_limit(_LONGEST_CELL)
    quoting: tuple[Literal[0, 3], ...] = (
        (csv.QUOTE_MINIMAL, csv.QUOTE_NONE) if delimiter == "\t" else (csv.QUOTE_MINIMAL,)
    )
    for how in quoting:
        reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True, quoting=how)
        try:
            return [(reader.line_num, cells) for cells in reader if cells]
        except csv.Error as error:
            problem = InputError(f"is not a table ({error})", file=path, line=reader.line_num)
    raise problem


def _from_objects(path: Path) -> LabelTable:
    rows = [(line, {key: _text(value) for key, value in row.items()}) for line, row in read_objects(path)]
    if not rows:
        raise InputError("has no rows of labels", file=path)
    return LabelTable(str(path), tuple(dict.fromkeys(key for _, row in rows for key in row)), tuple(rows))


def _text(value: object) -> str:
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def ratings(table: LabelTable, raters: Sequence[str], by: str | None) -> Ratings:
    """The labels of the columns `raters`, of queries as column `by` tells them (else one of `QUERY_COLUMNS`).

    Raises InputError for an unknown column, fewer than two different ones, a column without labels, and numbers
    among words.
    """
    if repeated := [name for name in raters if list(raters).count(name) > 1]:
        raise InputError(
            f"column '{plain(repeated[0])}' is named twice, and one rater has nothing to agree with",
            file=table.file,
            remedy="name the people's column and the judge's",
        )
    for name in [*raters, *([by] if by else [])]:
        if name not in table.columns:
            there = ", ".join(plain(column) for column in table.columns[:20])
            raise InputError(f"has no column '{plain(name)}'", file=table.file, remedy=f"its columns are {there}")
    by = by or next((name for name in QUERY_COLUMNS if name in table.columns and name not in raters), None)
    labels, numeric = _read(table, raters)
    return Ratings(table.file, tuple(raters), labels, _clusters(table, by), numeric, by)


def _clusters(table: LabelTable, by: str | None) -> tuple[str, ...]:
    if by is None:
        return tuple(str(number) for number, _ in enumerate(table.rows))
    for line, row in table.rows:
        if row.get(by, "") == "":
            raise InputError(f"has no '{plain(by)}'", file=table.file, line=line, remedy="every row needs its query")
    return tuple(row[by] for _, row in table.rows)


def _read(table: LabelTable, raters: Sequence[str]) -> tuple[tuple[tuple[Label | None, ...], ...], bool]:
    texts = [[row.get(name, "") for _, row in table.rows] for name in raters]
    present = [text for column in texts for text in column if text.lower() not in MISSING]
    for name, column in zip(raters, texts, strict=True):
        if all(text.lower() in MISSING for text in column):
            raise InputError(f"column '{plain(name)}' holds no label", file=table.file)
    numbers = [number_of(text) is not None for text in present]
    if any(numbers) and not all(numbers):
        _raise_mixed(table, raters)
    numeric = all(numbers)
    columns = tuple(tuple(_label(text, numeric) for text in column) for column in texts)
    return columns, numeric


def _label(text: str, numeric: bool) -> Label | None:
    if text.lower() in MISSING:
        return None
    return number_of(text) if numeric else text


def _raise_mixed(table: LabelTable, raters: Sequence[str]) -> None:
    for line, row in table.rows:
        for name in raters:
            text = row.get(name, "")
            if text.lower() not in MISSING and number_of(text) is None:
                problem = f"label '{plain(text[:60])}' in column '{plain(name)}' is not a number, as other labels are"
                remedy = "use numbers or words throughout, and leave the cell empty where there is no label"
                raise InputError(problem, file=table.file, line=line, remedy=remedy)


def number_of(text: str) -> float | None:
    """The finite number that a cell spells, if it does."""
    try:
        value = float(text) if "_" not in text else None
    except ValueError:
        return None
    return value if value is not None and isfinite(value) else None


def qrels_ratings(human: Path, judge: Path) -> Ratings:
    """Two files of qrels as two raters of (query, passage) pairs, by query; what one file lacks is missing.

    Raises InputError where they share no pair, and for one file named twice.
    """
    if human.resolve() == judge.resolve():
        raise InputError("is named twice, and one rater has nothing to agree with", file=human)
    one, other = read_qrels(human), read_qrels(judge)
    pairs = sorted({(query, passage) for qrels in (one, other) for query in qrels for passage in qrels[query]})
    columns = tuple(
        tuple(None if (label := qrels.get(q, {}).get(p)) is None else float(label) for q, p in pairs)
        for qrels in (one, other)
    )
    if not any(a is not None and b is not None for a, b in zip(*columns, strict=True)):
        problem = f"shares no pair of query and passage with {plain(str(human))}"
        raise InputError(problem, file=judge, remedy="check that both label the same test set")
    clusters = tuple(query for query, _ in pairs)
    return Ratings(f"{human}, {judge}", (str(human), str(judge)), columns, clusters, True, "query")
