"""Anyone's test set as one list of items: BEIR's JSON Lines, Ragas, RAGElo, DeepEval's goldens, and tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragassay.errors import InputError
from ragassay.evidence.forms import given_pieces
from ragassay.files import check_length
from ragassay.layouts.cells import as_list
from ragassay.layouts.rows import Row, read_rows
from ragassay.perturbed import original_of
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
_HOP = re.compile(r"^\s*<\d+-hop>\s*")

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


def read_test_set(path: Path) -> list[Item]:
    """The items in the file's order; those of a file without ids are `row-1`, `row-2`, ….

    Raises InputError, with the line where there is one: no such file, no question, no field that can be the question,
    an id twice, a question that is no text, evidence in no known form.
    """
    rows = list(read_rows(path, LAYOUTS))
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


def apart(items: Sequence[Item], path: Path) -> tuple[list[Item], int]:
    """The items that were not made of others by `ragassay perturb`, and how many were. Raises InputError without any of
    the first."""
    kept = [item for item in items if original_of(item.metadata) is None]
    if not kept:
        raise InputError("has perturbed questions alone", file=path, remedy="give them with their originals")
    return kept, len(items) - len(kept)


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


def _field_of(rows: Sequence[Row], names: Sequence[str]) -> str | None:
    there = {key for _, _, value in rows for key in value}
    return next((name for name in names if name in there), None)


def _item(row: Row, text: str, id_field: str | None, path: Path) -> Item:
    number, line, value = row
    asked = value.get(text)
    if asked is not None and not isinstance(asked, str):
        problem = f"{row.place}'{text}' is not a text (conversations are not taken)"
        raise InputError(problem, file=path, line=line, remedy="give the question alone")
    check_length(asked, "query", path, line or number)
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    given = value.get(id_field) if id_field else None
    name = str(given).strip() if given not in (None, "") else f"row-{number}"
    return Item(name, number, line, asked or "", _answer(value, metadata, text), _evidence(row, path), metadata)


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
    pieces = as_list(found)
    if any(isinstance(piece, dict) for piece in pieces):
        return tuple(given_pieces({"evidence": pieces}, path, line or number))
    if not all(isinstance(piece, str) for piece in pieces):
        problem = f"{row.place}the evidence is no text and no list of texts"
        raise InputError(problem, file=path, line=line, remedy="give the passages' texts, or places in documents")
    return tuple(text for piece in pieces if (text := _HOP.sub("", piece).strip()))


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
