"""Anyone's test set as one list of items: BEIR's JSON Lines, Ragas, RAGElo, DeepEval's goldens, and tables."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragassay.errors import InputError
from ragassay.evidence.forms import given_pieces
from ragassay.files import check_length, read_json, read_objects, read_text
from ragassay.text import plain
from ragassay.trec import read_qrels

TEXT = ("text", "user_input", "question", "query", "input")
"""Fields that hold the question, the first that is there."""
ID = ("_id", "id", "qid", "query_id", "question_id")
ANSWER = (
    "reference",
    "ground_truth",
    "ground_truths",
    "expected_output",
    "expected_response",
    "golden_answer",
    "answer",
)
EVIDENCE = ("evidence", "reference_contexts", "contexts", "context")
LAYOUTS = (
    "the question is in _id and text (BEIR, JSON Lines), user_input or question (Ragas, JSON Lines or CSV), query "
    "(RAGElo, CSV), input (DeepEval's goldens, JSON), or a column question or query (CSV)"
)
LISTS = ("goldens", "samples", "examples", "data")
_HOP = re.compile(r"^\s*<\d+-hop>\s*")
_LONGEST_CELL = 10_000_000

Piece = str | Mapping[str, Any]
"""Evidence: a text that is said to be of the corpus, or one of the forms of `ragassay.evidence.forms`."""


@dataclass(frozen=True)
class Item:
    """One question. row counts from 1; line is that of the file, None in a JSON list. text may be blank: a fault."""

    id: str
    row: int
    line: int | None
    text: str
    answer: str | None = None
    evidence: tuple[Piece, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


Row = tuple[int, int | None, Mapping[str, Any]]
"""(number from 1, line where there is one, fields)."""


def read_test_set(path: Path) -> list[Item]:
    """The items in the file's order; those of a file without ids are `row-1`, `row-2`, ….

    Raises InputError, with the line where there is one: no such file, no question, no field that can be the question,
    an id twice, a question that is no text, evidence in no known form.
    """
    rows = list(_rows(path))
    if not rows:
        raise InputError("has no question", file=path, remedy=LAYOUTS)
    text = _field_of(rows, TEXT)
    if text is None:
        there = ", ".join(plain(name) for name in list(dict.fromkeys(key for row in rows for key in row[2]))[:12])
        raise InputError(f"has no field that can be the question, it has {there}", file=path, remedy=LAYOUTS)
    id_field = _field_of(rows, ID)
    items = [_item(row, text, id_field, path) for row in rows]
    _check_ids(items, path)
    return items


def with_labels(items: Sequence[Item], qrels: Path) -> list[Item]:
    """Items that bring no evidence have the passages that `qrels` label 1 or more. Raises InputError."""
    labels = read_qrels(qrels)
    if items and not any(item.id in labels for item in items):
        raise InputError("labels none of the set's questions", file=qrels, remedy="give the labels of this set")
    return [
        item if item.evidence else replace(item, evidence=tuple({"passage": name} for name, label in row if label >= 1))
        for item in items
        for row in [labels.get(item.id, {}).items()]
    ]


def _rows(path: Path) -> Iterator[Row]:
    suffix = path.suffix.lower()
    if suffix in {".csv", ".tsv"}:
        yield from table_rows(path, "\t" if suffix == ".tsv" else ",")
    elif (suffix == ".json" and read_text(path).lstrip()[:1] == "[") or _is_object_of_list(path):
        for number, value in enumerate(_list_of(path), 1):
            if not isinstance(value, dict):
                raise InputError(f"item {number} is not a JSON object", file=path, remedy=LAYOUTS)
            yield number, None, value
    else:
        for number, (line, value) in enumerate(read_objects(path), 1):
            yield number, line, value


def _is_object_of_list(path: Path) -> bool:
    """Whether it is one JSON object over several lines, as DeepEval and others write data sets."""
    if path.suffix.lower() != ".json":
        return False
    try:
        value = json.loads(read_text(path))
    except ValueError:
        return False
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
    """The rows of a table with a header, blank ones left out. Raises InputError with the line."""
    csv.field_size_limit(_LONGEST_CELL)
    text = read_text(path)
    semicolons = delimiter == "," and ";" in text.split("\n", 1)[0] and "," not in text.split("\n", 1)[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=";" if semicolons else delimiter, strict=True)
    header: list[str] | None = None
    number, line = 0, 1
    try:
        for cells in reader:
            begins, line = line, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = [name.strip() for name in cells]
                continue
            if len(cells) != len(header):
                raise InputError(f"has {len(cells)} cells, the header {len(header)}", file=path, line=begins)
            number += 1
            yield number, begins, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise InputError(f"is not CSV ({error})", file=path, line=reader.line_num) from None


def _field_of(rows: Sequence[Row], names: Sequence[str]) -> str | None:
    there = {key for _, _, value in rows for key in value}
    return next((name for name in names if name in there), None)


def _item(row: Row, text: str, id_field: str | None, path: Path) -> Item:
    number, line, value = row
    asked = value.get(text)
    if asked is not None and not isinstance(asked, str):
        problem = f"{_place(row)}'{text}' is not a text (conversations are not taken)"
        raise InputError(problem, file=path, line=line, remedy="give the question alone")
    check_length(asked, "query", path, line or number)
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    given = value.get(id_field) if id_field else None
    name = str(given).strip() if given not in (None, "") else f"row-{number}"
    return Item(name, number, line, asked or "", _answer(value, metadata, text), _evidence(row, path), metadata)


def _place(row: Row) -> str:
    return "" if row[1] else f"item {row[0]}: "


def _answer(value: Mapping[str, Any], metadata: Mapping[str, Any], text: str) -> str | None:
    found = next((value[name] for name in ANSWER if value.get(name) and name != text), None)
    found = found or metadata.get("expected_response")
    if isinstance(found, list):
        found = next((one for one in found if isinstance(one, str)), None)
    return found if isinstance(found, str) and found.strip() else None


def _evidence(row: Row, path: Path) -> tuple[Piece, ...]:
    number, line, value = row
    metadata = value.get("metadata")
    ours = metadata.get("evidence") if isinstance(metadata, dict) else None
    found = ours if ours is not None else next((value[name] for name in EVIDENCE if value.get(name)), None)
    pieces = _as_list(found)
    if any(isinstance(piece, dict) for piece in pieces):
        return tuple(given_pieces({"evidence": pieces}, path, line or number))
    if not all(isinstance(piece, str) for piece in pieces):
        problem = f"{_place(row)}the evidence is no text and no list of texts"
        raise InputError(problem, file=path, line=line, remedy="give the passages' texts, or places in documents")
    return tuple(text for piece in pieces if (text := _HOP.sub("", piece).strip()))


def _as_list(found: Any) -> Sequence[Any]:
    """A list as it is, or as a cell of a table has it (JSON, or as Python writes it); any other text by itself."""
    if not isinstance(found, str):
        return found if isinstance(found, list) else [] if found is None else [found]
    if found.lstrip().startswith("["):
        for read in (json.loads, ast.literal_eval):
            try:
                value = read(found.strip())
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
            if isinstance(value, list):
                return value
    return [found]


def _check_ids(items: Sequence[Item], path: Path) -> None:
    first: dict[str, Item] = {}
    for item in items:
        if item.id in first:
            earlier = first[item.id]
            where = f"line {earlier.line}" if earlier.line else f"item {earlier.row}"
            here = "" if item.line else f"item {item.row}: "
            problem = f"{here}the id '{plain(item.id)}' is also that of {where}"
            raise InputError(problem, file=path, line=item.line, remedy="give each question an id of its own")
        first[item.id] = item
