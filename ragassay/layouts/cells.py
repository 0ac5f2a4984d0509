"""Rows of anybody's files (JSON Lines, a JSON list or an object with one, CSV, TSV, XLSX), and what cells hold."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from operator import ne
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from ..errors import InputError, MissingExtra
from ..files import read_json, read_objects, read_text
from ..records import Asked, Turn
from ..text import csv_text, plain

LISTS = ("goldens", "samples", "examples", "test_cases", "traces", "data")
"""Where one object holds a data set, the fields that may have its rows; a list that is its only field has them, too."""

WORKBOOK = ".xlsx"
LOG = ".eval"
"""What Inspect calls its logs."""
TABLES = frozenset((".csv", ".tsv", ".tab", WORKBOOK))
OUR_ID = "ragassay_query_id"
"""In the metadata of what we write: the query's id, for which traces and data sets of others have no place."""
BY = "ragassay_by"
"""Where a message of a conversation that we wrote says who wrote it; one that has it was said by no agent there."""
PROMPTFOO = "Grader Reason"
"""A heading that promptfoo alone writes."""
_LONGEST_CELL = 10_000_000
_LONGEST_HEADER = 100_000
_QUOTED = re.compile(r'"[^"]*("|$)')
_SEPARATOR = re.compile(r"sep=([,;\t|])\r?\n", re.IGNORECASE)
_MOST_UNPACKED_BYTES = 300_000_000
_MOST_CELLS = 5_000_000


T = TypeVar("T")


class Row(NamedTuple):
    """One row of the file `path`: `number` counts from 1; line is that of the file, None in a JSON list.

    n_unquoted: in how many cells of a table an apostrophe was taken away.
    """

    number: int
    line: int | None
    fields: Mapping[str, Any]
    path: Path
    n_unquoted: int = 0

    def wrong(self, problem: str, remedy: str | None = None) -> InputError:
        """What is to be raised about it."""
        where = "" if self.line else f"item {self.number}: "
        return InputError(where + problem, file=self.path, line=self.line, remedy=remedy)

    def told(self, read: Callable[[Any], T], value: Any, what: str = "") -> T:
        """What `read` makes of a value. Raises InputError for its ValueError, `what` before what that says."""
        try:
            return read(value)
        except ValueError as error:
            raise self.wrong(f"{what}{error}") from None


def read_rows(path: Path, remedy: str | None = None) -> Iterator[Row]:
    """Every row: `.csv`, `.tsv`, `.tab` and `.xlsx` are tables, `.json` may be one list, anything else is JSON Lines.

    remedy: what to say of an item that is no object. Raises InputError with the line, where there is one.
    """
    suffix = path.suffix.lower()
    if suffix in TABLES:
        yield from table_rows(path)
        return
    whole = inspect_log(path) if suffix == LOG else _whole(path) if suffix == ".json" else None
    if (rows := _rows_of(whole)) is not None:
        for number, value in enumerate(rows, 1):
            if not isinstance(value, dict):
                raise InputError(f"item {number} is not a JSON object", file=path, remedy=remedy)
            yield Row(number, None, value, path)
    elif isinstance(whole, dict):
        yield Row(1, 1, whole, path)
    else:
        for number, (line, value) in enumerate(read_objects(path), 1):
            yield Row(number, line, value, path)


def header_of(path: Path) -> list[str]:
    """The names in the first line of a table; empty where there is none."""
    return next((cells for _, cells in _cells(path)), [])


def _whole(path: Path) -> Any:
    """The list or the one object of a `.json` file, None of JSON Lines. Raises InputError for a broken list."""
    text = read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return read_json(path) if text.lstrip()[:1] == "[" else None


def list_field(value: Mapping[str, Any]) -> str | None:
    """The field of one object that has the rows of a data set, None where none has."""
    name = next((name for name in LISTS if isinstance(value.get(name), list)), None)
    only = next(iter(value), None) if len(value) == 1 else None
    rows = value[only] if only else None
    return name or (only if isinstance(rows, list) and any(isinstance(row, dict) for row in rows) else None)


def _rows_of(value: Any) -> list[Any] | None:
    """Those of a list, of a data set (`list_field`), or of a run of DeepEval (its conversations, too), promptfoo, or
    Inspect, with task and model in each; None of one row.
    """
    if not isinstance(value, dict):
        return value if isinstance(value, list) else None
    results, eval, samples = value.get("results"), value.get("eval"), value.get("samples")
    if isinstance(value.get("testCases"), list):
        return [*value["testCases"], *(value.get("conversationalTestCases") or ())]
    if isinstance(results, dict) and isinstance(results.get("results"), list):
        return list(results["results"])
    if isinstance(eval, dict) and (isinstance(samples, list) or "plan" in value):
        told = {name: eval.get(name) for name in ("task", "model")}
        return [{**one, "eval": told} if isinstance(one, dict) else one for one in samples or ()]
    name = list_field(value)
    return value[name] if name else None


@contextmanager
def _opening(path: Path, what: str, too_large: str, remedy: str | None = None) -> Iterator[None]:
    """An archive that unpacks to too much, or that a library cannot read, is an InputError, whatever its parsers raise.

    too_large, remedy: what to do about the one and the other.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(one.file_size for one in archive.infolist())
        if unpacked > _MOST_UNPACKED_BYTES:
            raise InputError(f"unpacks to {unpacked / 1e6:,.0f} MB", file=path, remedy=too_large)
        yield
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", file=path) from None
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001
        raise InputError(f"is no {what} ({type(error).__name__})", file=path, remedy=remedy) from None


def inspect_log(path: Path) -> Any:
    """A log of Inspect (.eval) as its own library reads it. Raises InputError, and MissingExtra without inspect-ai."""
    try:
        from inspect_ai.log import read_eval_log
    except ImportError:
        raise MissingExtra("a log of Inspect (.eval)", "inspect") from None
    with _opening(path, "log of Inspect", "divide it"):
        return read_eval_log(str(path)).model_dump(mode="json")


def table_rows(path: Path) -> Iterator[Row]:
    """The rows of a table with a header, blank ones left out. Raises InputError with the line.

    A column may stand there twice, as a data frame's index does, where both hold the same in every row. An apostrophe
    before what a spreadsheet might run is taken away (`text.csv_text`).
    """
    first, header = next(rows := _cells(path), (1, []))
    if PROMPTFOO in header:  # it has its columns once for each prompt and provider
        header = [
            name if name not in header[:at] else f"{name} {header[:at].count(name) + 1}"
            for at, name in enumerate(header)
        ]
    twice = {name: [place for place, one in enumerate(header) if one == name] for name in header if name}
    twice = {name: places for name, places in twice.items() if len(places) > 1}
    for number, (line, cells) in enumerate(rows, 1):
        if len(cells) != len(header):
            raise InputError(f"has {len(cells)} cells, the header has {len(header)}", file=path, line=line)
        for name, places in twice.items():
            if len({cells[place] for place in places}) > 1:
                raise InputError(f"has two columns '{plain(name)}'", file=path, line=first)
        kept = [csv_text(cell) for cell in cells]
        n_unquoted = sum(map(ne, kept, cells))
        yield Row(number, line, dict(zip(header, kept, strict=True)), path, n_unquoted)


def _cells(path: Path) -> Iterator[tuple[int, list[str]]]:
    """(line on which the row begins, cells) of each row that is not blank; the first is the header, stripped."""
    header = True
    for line, cells in _sheet(path) if path.suffix.lower() == WORKBOOK else _written(path):
        if any(cell.strip() for cell in cells):
            yield line, [cell.strip() for cell in cells] if header else cells
            header = False


def _written(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table that is text, with commas, semicolons (as some languages have it) or tabs, or with what a
    first line `sep=;` says to Excel.
    """
    csv.field_size_limit(_LONGEST_CELL)
    text = read_text(path)
    first = _QUOTED.sub("", text[:_LONGEST_HEADER]).lstrip().split("\n", 1)[0]
    semicolons = ";" in first and "," not in first
    delimiter = "\t" if path.suffix.lower() in {".tsv", ".tab"} else ";" if semicolons else ","
    lines, before = io.StringIO(text, newline=""), 0
    if told := _SEPARATOR.match(text):
        delimiter, before = told[1], 1
        lines.readline()
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        line = before + reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise InputError(f"is not CSV ({error})", file=path, line=line) from None
        if cells is None:
            return
        yield line, cells


def _sheet(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a workbook's first sheet, as wide as its header where nothing stands beyond it.

    Raises InputError where it is no workbook or unpacks to too much, MissingExtra without openpyxl.
    """
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtra("a workbook (.xlsx)", "excel") from None
    remedy = "save it as .xlsx without a password, or as .csv in UTF-8"
    with _opening(path, "workbook", "divide it, or save it as .csv", remedy):
        books = [load_workbook(path, read_only=True, data_only=results) for results in (True, False)]
        for book in books:
            book.worksheets[0].reset_dimensions()  # what a file says of its size cuts cells off where it is wrong
        rows, left = list[list[str]](), _MOST_CELLS
        for row, written in zip(*(book.worksheets[0].iter_rows(values_only=True) for book in books), strict=True):
            if any(value is None and cell is not None for value, cell in zip(row, written, strict=True)):
                remedy = "open it in a spreadsheet program and save it, or as .csv"
                raise InputError("has a formula without its result", file=path, line=len(rows) + 1, remedy=remedy)
            cells = list(map(_cell, row))
            while cells and not cells[-1].strip():
                cells.pop()
            rows.append(cells)
            left -= len(cells)
            if left < 0:
                problem = f"has more than {_MOST_CELLS:,} cells"
                raise InputError(problem, file=path, remedy="take out what stands far off, or save it as .csv")
        for book in books:
            book.close()
    width = next(filter(None, map(len, rows)), 0)
    for number, row in enumerate(rows, 1):
        yield number, row + [""] * (width - len(row))


def _cell(value: object) -> str:
    """A cell as it would be written; numbers that are whole as such, dates as ISO 8601 has them."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if isinstance(value, date) else str(value)


Context = dict[str, Any]
"""A passage as it was handed over: `text`, and `id` or `doc` where they are given."""

_SAID = (
    *("query", "question", "input", "answer", "response", "output", "content", "text", "result", "generation"),
    *("user_input", "prompt", "returns", "value"),
)
_ID, TEXT = ("passage_id", "id", "_id", "did", "chunk_id"), ("content", "text", "page_content", "document")
_DOC = ("doc_uri", "doc", "source", "url")


def text(value: Any) -> str:
    """A text as it is; a whole number as its digits. Raises ValueError."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise ValueError("is not a text")


_PARTS = re.compile(r"""('(?:\\.|[^'\\])*+(?:'|\\?\Z)|"(?:\\.|[^"\\])*+(?:"|\\?\Z)|\})(\s+(?=['"{]))?""", re.DOTALL)
"""A text or the end of an object in Python's words, and the white space that NumPy has between it and the next."""


def as_list(value: Any) -> Sequence[Any]:
    """A list as it is, or as a cell of a table has it: JSON, or as Python or NumPy (no commas) writes it; anything else
    by itself.
    """
    if not isinstance(value, str):
        return value if isinstance(value, list) else [] if value is None else [value]

    def python(cell: str) -> Any:  # two texts side by side are two, where Python reads one
        return ast.literal_eval(_PARTS.sub(lambda found: f"{found[1]}," if found[2] else found[1], cell))

    for read in (json.loads, python) if value.lstrip().startswith("[") else ():
        try:
            found = read(value.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(found, list):
            return found
    return [value] if value else []


def texts(value: Any) -> list[str]:
    """A list of texts. Raises ValueError."""
    found = as_list(value)
    if not all(isinstance(one, str) for one in found):
        raise ValueError("is not a list of texts")
    return list(found)


def number(value: Any) -> float:
    """A number, or the text of one. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("is not a number")
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise ValueError("is not a number") from None


def contexts(value: Any) -> list[Context]:
    """Passages: texts, or objects that hold one (content, text, page_content) and perhaps ids. Raises ValueError."""
    return [_context(one) for one in as_list(value)]


def said(value: Any) -> str:
    """What was asked or answered: a text, a conversation's last message, or an object's one telling field.

    Raises ValueError where none of them is there.
    """
    found = _said(unpacked(value), 0)
    if found is None:
        raise ValueError("holds no text, no messages and no field such as query or answer")
    return found


def asked(value: Any) -> str:
    """The same of a question: of messages with roles the last of a person's, with what was said before it (`Asked`)."""
    told = unpacked(value)
    messages = told.get("messages") if isinstance(told, Mapping) else told
    if not isinstance(messages, list) or not all(isinstance(one, Mapping) and "role" in one for one in messages):
        return said(value)
    last = max((place for place, one in enumerate(messages) if _role(one) == "user"), default=len(messages) - 1)
    text, before = said(messages[last : last + 1]), [(_role(one), _said(one, 0)) for one in messages[:last]]
    turns = tuple(Turn(role=role, text=words) for role, words in before if role and words)
    return Asked(text, turns) if turns else text


class Exchange(NamedTuple):
    """A turn of a person's after what was said before it, and the answer: its last words, None where there are none.

    messages: all that came until the person's next turn, calls of tools and their results among them. told: the
    metadata of the question's message.
    """

    question: str
    answer: str | None
    messages: tuple[Mapping[str, Any], ...]
    told: Mapping[str, Any]


def exchanges(messages: Any) -> list[Exchange]:
    """The turns of a conversation, in their order. Raises ValueError for no list of messages, or none of a person's."""
    if not isinstance(messages, list) or not all(isinstance(one, Mapping) for one in messages):
        raise ValueError("is not a list of messages")
    history, found = list[Turn](), list[Exchange]()
    for message in messages:
        role, words = _role(message), _said(message, 0) or ""
        told, blank = as_object(message.get("metadata")), not words.strip()
        if role == "user" and not blank:
            found.append(Exchange(Asked(words, tuple(history)) if history else words, None, (), told))
        elif found and role != "user" and BY not in told:
            last = found[-1]
            answer = words if role == "assistant" and not blank else last.answer
            found[-1] = last._replace(answer=answer, messages=(*last.messages, message))
        if role and not blank:
            by = told[BY] if told.get(BY) in ("person", "model", "reference") else None
            history.append(Turn(role=role, text=words, by=by))
    if not found:
        raise ValueError("has no turn of a person's")
    return found


def _role(message: Mapping[str, Any]) -> Literal["user", "assistant"] | None:
    return _ROLES.get(str(message.get("role", message.get("type"))))


_ROLES: Mapping[str, Literal["user", "assistant"]] = {
    **{"user": "user", "human": "user"},
    **{"assistant": "assistant", "ai": "assistant", "model": "assistant"},
}


def unpacked(value: Any) -> Any:
    """What a text that is JSON of an object or a list holds; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def as_object(value: Any) -> Mapping[str, Any]:
    """An object as it is, an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def first_of(value: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The first of the fields that holds something; None where none does."""
    return next((value[name] for name in names if value.get(name) not in (None, "")), None)


def _context(value: Any) -> Context:
    if isinstance(value, str):
        return {"text": value}
    if not isinstance(value, Mapping):
        raise ValueError("is not a list of passages, each a text or an object with its content")
    inner = value.get("document")
    given: Mapping[str, Any] = inner if isinstance(inner, Mapping) else value
    body, known, id = first_of(given, TEXT), as_object(unpacked(given.get("metadata"))), first_of(given, _ID)
    if not isinstance(body, str):
        raise ValueError("has a passage without its text (content)")
    told = {"id": first_of(known, _ID) if id is None else id, "doc": first_of(given, _DOC) or first_of(known, _DOC)}
    return {"text": body} | {name: text(one) for name, one in told.items() if one is not None}


def _said(value: Any, depth: int) -> str | None:
    if isinstance(value, str):
        return value
    if depth > 4:
        return None
    if isinstance(value, list):
        return _said(value[-1], depth + 1) if value else None
    if not isinstance(value, Mapping):
        return None
    for name in ("messages", "choices", "message", *_SAID, "parts", "kwargs", "inputs", "outputs", "data"):
        if value.get(name) and (found := _said(value[name], depth + 1)) is not None:
            return found
    return _said(next(iter(value.values())), depth + 1) if len(value) == 1 else None
