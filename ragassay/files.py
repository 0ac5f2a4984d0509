"""Reading and writing the plain files that stages exchange: JSON Lines, JSON and text.

A file is written to a neighbour and moved into place, so that a reader sees the old one or the new one, never a part.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from .errors import InputError
from .records import Answer, Passage, Query, Record
from .text import plain

R = TypeVar("R", bound=BaseModel)


_OTHER_KINDS = (
    (b"\x1f\x8b", "compressed with gzip", "unpack it with gunzip"),
    (b"PK\x03\x04", "a ZIP archive", "unpack it"),
    (b"\xff\xfe", "UTF-16", "save it as UTF-8"),
    (b"\xfe\xff", "UTF-16", "save it as UTF-8"),
)


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8 beside `path` and move it into place."""
    write_bytes(path, text.encode("utf-8", "surrogatepass"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` beside `path` and move it into place; what is no file (`/dev/stdout`) is written to as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with naming(path):
            beside.write_bytes(data)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def append_whole(stream: FileIO, data: bytes) -> None:
    """Add `data` at the end of an unbuffered file, or nothing of it: a full disk leaves no part of a line behind."""
    end, left = os.fstat(stream.fileno()).st_size, memoryview(data)
    try:
        with naming(os.fsdecode(stream.name)):
            while left:
                left = left[stream.write(left) :]
    except OSError:
        stream.truncate(end)
        raise


def append_line(path: Path, value: Mapping[str, Any]) -> None:
    """Add a line to a JSON Lines file, on disk when this returns; what a kill left of one before is taken out.

    Only one may write at once: who may, is held elsewhere.
    """
    path.parent.mkdir(exist_ok=True)
    with path.open("a+b", buffering=0) as stream:
        data = path.read_bytes()
        stream.truncate(data.rfind(b"\n") + 1)
        append_whole(stream, json_line(value).encode("utf-8"))
        os.fsync(stream.fileno())


@contextmanager
def naming(path: Path | str) -> Iterator[None]:
    """An error of the system that names no file, as that of a full disk does not, names `path`."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def read_text(path: Path) -> str:
    """The UTF-8 text of `path`. Raises InputError, with the line, where it is missing, unreadable or not UTF-8."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError("there is no such file", file=path) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=path) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        for start, what, remedy in _OTHER_KINDS:
            if data.startswith(start):
                raise InputError(f"is {what}, not UTF-8 text", file=path, remedy=remedy) from None
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("is not UTF-8 text", file=path, line=line, remedy="save it as UTF-8") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError("is a binary file, not text", file=path, line=line)
    return text


def read_objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) for each non-blank line of a JSON Lines file. Raises InputError with the line."""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"is not JSON ({error})", file=path, line=number) from None
        if not isinstance(value, dict):
            raise InputError("is not a JSON object", file=path, line=number)
        yield number, value


LONGEST = {"query": 100_000, "answer": 1_000_000, "passage": 1_000_000}
"""Characters that a text may have which somebody hands over in a file."""


def check_length(text: str | None, what: str, file: Path, line: int) -> None:
    """Raises InputError where the text of a query, an answer or a passage (`what`) is longer than LONGEST."""
    if text is not None and len(text) > LONGEST[what]:
        problem = f"the {what} is {len(text):,} characters long, and at most {LONGEST[what]:,} are taken"
        raise InputError(problem, file=file, line=line, remedy="shorten it or leave it out")


def check_record(record: BaseModel, file: Path, line: int) -> None:
    """`check_length` of a record that is a query, an answer or a passage."""
    if isinstance(record, Answer):
        check_length(record.answer, "answer", file, line)
    elif isinstance(record, Query | Passage):
        check_length(record.text, type(record).__name__.lower(), file, line)


def first_problem(error: ValidationError) -> str:
    """The first thing a pydantic error says, as one phrase with its place."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return plain(f"{where}: {first['msg']}" if where else str(first["msg"]))


def read_records(path: Path, kind: type[R]) -> list[R]:
    """Every line of a JSON Lines file as a `kind`. Raises InputError with the line."""
    records = []
    for number, value in read_objects(path):
        try:
            record = kind.model_validate(value)
        except ValidationError as error:
            problem = first_problem(error).removeprefix("Value error, ")
            raise InputError(problem, file=path, line=number) from None
        check_record(record, path, number)
        records.append(record)
    return records


_one_line = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write records as JSON Lines, atomically, keys in the order of the model's fields."""
    write_text(path, "".join(json_line(record.dump()) for record in records))


def json_line(value: Mapping[str, Any]) -> str:
    """One JSON Lines line, with its newline; NaN and infinity are refused."""
    return _one_line(value) + "\n"


def read_json(path: Path) -> Any:
    """The content of a JSON file. Raises InputError."""
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON ({error})", file=path) from None


def write_json(path: Path, value: Any) -> None:
    """Write JSON, indented, atomically; NaN and infinity are refused."""
    write_text(path, json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
