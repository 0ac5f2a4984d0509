"""Anyone's test set as one list of items: BEIR's JSON Lines, Ragas, RAGElo, DeepEval's goldens, and tables."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from ragassay.errors import InputError
from ragassay.evidence import given_pieces
from ragassay.files import check_length, read_json, read_qrels, read_text, write_text
from ragassay.layouts.cells import WORKBOOK, Row, as_list, list_field, read_rows, table_rows
from ragassay.layouts.questions import heading_of
from ragassay.records import Figure, QuestionsCheck, Record, original_of
from ragassay.text import csv_of, plain, safe_cell

ID = ("_id", "id", "qid", "query_id", "question_id")
ANSWER = (
    *("reference", "ground_truth", "ground_truths", "expected_output", "expected_response"),
    *("golden_answer", "answer"),
)
EVIDENCE = ("evidence", "reference_contexts", "contexts", "context")
LAYOUTS = (
    "the question is in _id and text (BEIR, JSON Lines), user_input or question (Ragas, JSON Lines or CSV), query "
    "(RAGElo, CSV), input (DeepEval's goldens, JSON), or a column question or query (CSV)"
)
_HOP = re.compile(r"^\s*<\d+-hop>\s*")

Piece = str | Mapping[str, Any]
"""Evidence: a text that is said to be of the corpus, or one of the forms of `ragassay.evidence`."""


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
    headings = list(dict.fromkeys(key for row in rows for key in row.fields))
    text = heading_of("question", headings)
    if text is None:
        there = ", ".join(map(plain, headings[:12]))
        raise InputError(f"has no field that can be the question, it has {there}", file=path, remedy=LAYOUTS)
    id_field = next((name for name in ID if name in headings), None)
    items = [_item(row, text, id_field) for row in rows]
    first: dict[str, Item] = {}
    for item in items:
        if (earlier := first.setdefault(item.id, item)) is not item:
            where = f"line {earlier.line}" if earlier.line else f"item {earlier.row}"
            here = "" if item.line else f"item {item.row}: "
            problem = f"{here}the id '{plain(item.id)}' is also that of {where}"
            raise InputError(problem, file=path, line=item.line, remedy="give each question an id of its own")
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


def _item(row: Row, text: str, id_field: str | None) -> Item:
    number, line, value, path, _ = row
    asked = value.get(text)
    if asked is not None and not isinstance(asked, str):
        raise row.wrong(f"'{text}' is not a text (conversations are not taken)", "give the question alone")
    check_length(asked, "query", path, line or number)
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    given = value.get(id_field) if id_field else None
    name = str(given).strip() if given not in (None, "") else f"row-{number}"
    answer = next((value[name] for name in ANSWER if value.get(name) and name != text), None)
    answer = answer or metadata.get("expected_response")
    if isinstance(answer, list):
        answer = next((one for one in answer if isinstance(one, str)), None)
    answer = answer if isinstance(answer, str) and answer.strip() else None
    return Item(name, number, line, asked or "", answer, _evidence(row, metadata), metadata)


def _evidence(row: Row, metadata: Mapping[str, Any]) -> tuple[Piece, ...]:
    ours = metadata.get("evidence")
    found = ours if ours is not None else next((row.fields[name] for name in EVIDENCE if row.fields.get(name)), None)
    pieces = as_list(found)
    if any(isinstance(piece, dict) for piece in pieces):
        return tuple(given_pieces({"evidence": pieces}, row.path, row.line or row.number))
    if not all(isinstance(piece, str) for piece in pieces):
        problem = "the evidence is no text and no list of texts"
        raise row.wrong(problem, "give the passages' texts, or places in documents")
    return tuple(text for piece in pieces if (text := _HOP.sub("", piece).strip()))


VERDICTS = ("accept", "reject")


def write_accepted(path: Path, sheet: Path, out: Path) -> tuple[int, int]:
    """Write to `out` the questions of the set `path` that `sheet` accepts; how many those are, and of how many.

    Lines and rows of a table are copied as they stand, items of a JSON list written anew; what `ragassay perturb` made
    of a question goes with it. Raises InputError, with the line of the sheet, for a verdict that is neither accept nor
    reject, a row that is not the set's, twice or missing; and for a workbook, of which no rows are copied.
    """
    if path.suffix.lower() == WORKBOOK:
        problem = "is a workbook, whose rows cannot be copied"
        raise InputError(problem, file=path, remedy="save it as .csv and check that")
    if out.resolve() in (path.resolve(), sheet.resolve()):
        raise InputError("would be overwritten", file=out, remedy="name another file with --out")
    items = read_test_set(path)
    accepted = _accepted(items, sheet)
    if not accepted:
        raise InputError("accepts no question", file=sheet, remedy="write accept into the column verdict of some row")
    if items[0].line is not None:
        write_text(out, _copied(path, items, accepted))
    else:
        value, rows = read_json(path), {item.row for item in accepted}
        name = list_field(value) if isinstance(value, dict) else None
        kept = [one for number, one in enumerate(value[name] if name else value, 1) if number in rows]
        write_text(out, json.dumps({**value, name: kept} if name else kept, ensure_ascii=False, indent=2) + "\n")
    return len(accepted), len(items)


def _accepted(items: Sequence[Item], sheet: Path) -> list[Item]:
    found: dict[int, bool] = {}
    for _, line, cells, _, _ in table_rows(sheet):
        missing = next((name for name in ("id", "row", "verdict") if name not in cells), None)
        if missing:
            raise InputError(f"has no column {missing}", file=sheet, remedy="give the sheet that check --out wrote")
        number = str(cells["row"]).strip()
        known = number.isascii() and number.isdigit() and len(number) < 10 and 1 <= int(number) <= len(items)
        if not known or cells["id"] != safe_cell(items[int(number) - 1].id):
            problem = f"'{plain(str(cells['id'])[:60])}' is not question {plain(number[:20]) or '(blank)'} of the set"
            remedy = "give the sheet of this set, its id and row unchanged"
            raise InputError(problem, file=sheet, line=line, remedy=remedy)
        row = int(number)
        if row in found:
            raise InputError(f"has row {row} of the set a second time", file=sheet, line=line, remedy="delete one")
        cell = str(cells["verdict"])
        if (verdict := cell.strip().lower()) not in VERDICTS:
            problem = f"the verdict is '{plain(cell[:60])}'" if verdict else "has no verdict"
            raise InputError(problem, file=sheet, line=line, remedy="write accept or reject")
        found[row] = verdict == VERDICTS[0]
    verdicts = {item.id: found[item.row] for item in items if item.row in found}
    made = {item.row: original for item in items if (original := original_of(item.metadata)) is not None}
    found = {row: verdicts.get(original, False) for row, original in made.items()} | found
    left = [item for item in items if item.row not in found]
    if left:
        problem = f"lacks {len(left)} of the set's {len(items)} questions, first '{plain(left[0].id)}'"
        raise InputError(problem, file=sheet, remedy="keep every row, and write reject where a question is to go")
    return [item for item in items if found[item.row]]


def _copied(path: Path, items: Sequence[Item], accepted: Sequence[Item]) -> str:
    """What stands before the first item, and the lines of those accepted, each up to where the next one begins."""
    table = path.suffix.lower() in {".csv", ".tsv"}
    text = read_text(path)
    lines = list(io.StringIO(text, newline="")) if table else [f"{line}\n" for line in text.split("\n")]
    starts = [(item.line or 1) - 1 for item in items] + [len(lines)]
    kept = lines[: starts[0]]
    for item in accepted:  # without blank lines at its end, which a table's last cell does not have
        own = "".join(lines[starts[item.row - 1] : starts[item.row]])
        kept.append(own.rstrip("\r\n") + ("\r\n" if own.endswith("\r\n") else "\n"))
    return "".join(kept)


Fault = Literal[
    "empty",
    "garbled",
    "other-script",
    "model-talk",
    "not-alone",
    "near-duplicate",
    "copy",
    "evidence-not-in-corpus",
    "answer-not-held",
]
FAULTS: dict[Fault, str] = {
    "empty": "without a letter or a digit",
    "garbled": "garbled text",
    "other-script": "in a script that the corpus has not",
    "model-talk": "words between a model and its user",
    "not-alone": "cannot stand alone",
    "near-duplicate": "asks what another one asks",
    "copy": "copied from the passage",
    "evidence-not-in-corpus": "evidence that is not in the corpus",
    "answer-not-held": "answer that its evidence does not hold",
}
"""Every fault in words; the names are a contract."""


class Finding(Record):
    """One fault of one question. row counts questions from 1; line is that of the file, None in a JSON list.

    detail: what was found, in words. other: the id of the question that it repeats.
    """

    id: str
    fault: Fault
    row: int
    line: int | None
    detail: str
    other: str | None = None


class Counted(Record):
    """How many questions have a fault, of the n that could have it; n_not_judged lack what it takes to say so."""

    found: int
    n: int
    n_not_judged: int = 0


class Covered(Record):
    """How many documents or sections are asked about, of how many there are."""

    asked: int
    of: int


class Coverage(Record):
    """Where questions are about: by their evidence (n_by_evidence), or the passage that BM25 finds first (n_by_search).

    n_nowhere: questions that share no word with the corpus. sections: None where they are not known, or where no
    question says by its evidence where in a document it is.
    """

    documents: Covered
    sections: Covered | None
    n_by_evidence: int
    n_by_search: int
    n_nowhere: int


class Spread(Record):
    """A figure's mean with a bootstrap interval over questions, and its quartiles; None without a value."""

    mean: Figure
    quartiles: tuple[float, float, float] | None


class Overlaps(Record):
    """What questions share with their passage: words in a row, and the share of their content words, 0 to 1."""

    run: Spread
    shared: Spread


class Checked(Record):
    """The whole check. counts: by fault. overlap, experts_overlap: of the set's and of the experts' questions.

    realism: whether both can be told apart, None where there are no experts' questions. partly_found: ids whose
    evidence stands in the corpus only in part. notes: what could not be said, and why.
    """

    set: str
    corpus: str
    n: int
    findings: tuple[Finding, ...]
    counts: dict[Fault, Counted]
    coverage: Coverage
    overlap: Overlaps
    experts_overlap: Overlaps | None = None
    realism: QuestionsCheck | None = None
    partly_found: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


COLUMNS = ("id", "row", "text", "answer", "faults", "details", "verdict")


def write_sheet(path: Path, items: Sequence[Item], checked: Checked) -> None:
    """Write every question, in the set's order, with its faults and an empty `verdict` (accept or reject)."""
    rows: list[Iterable[str]] = [COLUMNS]
    for item in items:
        own = [finding for finding in checked.findings if finding.row == item.row]
        faults, details = " ".join(one.fault for one in own), "; ".join(one.detail for one in own)
        cells = (item.id, str(item.row), item.text, item.answer or "", faults, details, "")
        rows.append(map(safe_cell, cells))
    write_text(path, csv_of(rows))
