"""Reading and writing the plain files that stages exchange: JSON Lines, JSON and text.

A file is written to a neighbour and moved into place, so that a reader sees the old one or the new one, never a part.
"""

from __future__ import annotations

import hashlib
import json
import os
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, make_dataclass, replace
from functools import lru_cache
from io import FileIO
from operator import attrgetter
from pathlib import Path
from sys import intern
from typing import Annotated, Any, Self, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from .errors import InputError
from .records import Answer, Outcome, Passage, Query, Record
from .text import plain


def digest_bytes(data: bytes) -> str:
    """SHA-256 of `data`, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def digest_file(path: Path) -> str:
    """SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digest_json(value: Any) -> str:
    """SHA-256 of canonical JSON: sorted keys, no spaces, UTF-8. Two equal values have one digest."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return digest_bytes(text.encode("utf-8", "surrogatepass"))


R = TypeVar("R", bound=BaseModel)
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


_OTHER_KINDS = (
    (b"\x1f\x8b", "compressed with gzip", "unpack it with gunzip"),
    (b"PK\x03\x04", "a ZIP archive", "unpack it"),
    (b"\xff\xfe", "UTF-16", "save it as UTF-8"),
    (b"\xfe\xff", "UTF-16", "save it as UTF-8"),
)


def file_stamp(path: Path) -> tuple[int, int] | None:
    """What tells whether a file has changed: its size in bytes, and when it was written in ns; None where none is."""
    found = path.stat() if path.exists() else None
    return found and (found.st_size, found.st_mtime_ns)


def while_unchanged(most: int) -> Callable[[F], F]:
    """A function of files gives what it gave before, until one of them is another (`file_stamp`); `most` are kept.

    The files are those of its arguments that are paths; all must hash, and none is given by name.
    """

    def decorate(function: F) -> F:
        @lru_cache(maxsize=most)
        def kept(seen: object, *given: Any) -> Any:
            del seen
            return function(*given)

        return cast(F, lambda *given: kept(tuple(file_stamp(one) for one in given if isinstance(one, Path)), *given))

    return decorate


def user_cache() -> Path:
    """The user's folder for what programs keep between runs: XDG_CACHE_HOME, or else `~/.cache`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").expanduser()


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8 beside `path` and move it into place."""
    write_bytes(path, text.encode("utf-8", "surrogatepass"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` beside `path` and move it into place; what is no file (`/dev/stdout`) is written to as it is."""
    write_parts(path, (data,))


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """`write_bytes` of what need not be held at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        with naming(path), path.open("wb") as stream:
            stream.writelines(parts)
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with naming(path), beside.open("wb") as stream:
            stream.writelines(parts)
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
        if (value := _object(line, path, number)) is not None:
            yield number, value


def _object(line: str, path: Path, number: int) -> dict[str, Any] | None:
    """None of a blank line."""
    if not line.strip():
        return None
    value = json_of(line, path, number)
    if not isinstance(value, dict):
        raise InputError("is not a JSON object", file=path, line=number)
    return value


def json_of(text: str, path: Path, line: int | None = None) -> Any:
    """What the text of a file, or of a line of it, holds. Raises InputError where it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON ({error})", file=path, line=line) from None


LONGEST = {"query": 100_000, "answer": 1_000_000, "passage": 1_000_000}
"""Characters that a text may have which somebody hands over in a file."""
_SHORTEST = min(LONGEST.values())
"""Bytes that a line must have before a text in it can be too long."""


def check_length(text: str | None, what: str, file: Path, line: int | None) -> None:
    """Raises InputError where the text of a query, an answer or a passage (`what`) is longer than LONGEST."""
    if text is not None and len(text) > LONGEST[what]:
        problem = f"the {what} is {len(text):,} characters long, and at most {LONGEST[what]:,} are taken"
        raise InputError(problem, file=file, line=line, remedy="shorten it or leave it out")


def check_record(record: BaseModel, file: Path, line: int | None) -> None:
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


def record_of(value: Any, kind: type[R], path: Path, line: int | None = None, remedy: str | None = None) -> R:
    """The record of a file's value. Raises InputError, with the remedy, for what is none, or longer than is taken."""
    try:
        record = kind.model_validate(value)
    except ValidationError as error:
        problem = first_problem(error).replace("Value error, ", "")
        raise InputError(problem, file=path, line=line, remedy=remedy) from None
    check_record(record, path, line or 1)
    return record


def read_records(path: Path, kind: type[R]) -> list[R]:
    """Every line of a JSON Lines file as a `kind`. Raises InputError with the line."""
    return list(_each(path, kind, kind.model_validate_json, lambda record: record))


def read_rows(path: Path, kind: type[R], slim: Callable[[Any], None] | None = None) -> list[R]:
    """The same as rows that have a record's attributes and `model_copy`, in a tenth of its room, for files of millions
    of lines. slim: takes from each row, when it has been checked, what nobody will read."""
    row_kind = row_type(kind)
    read = TypeAdapter(row_kind).validator.validate_json
    one_of = attrgetter(*kind.one_of) if issubclass(kind, Outcome) else None

    def checked(line: bytes) -> Any:
        row = read(line)
        if one_of is not None:
            value, error = one_of(row)
            if (value is None) == (error is None):
                raise ValueError("the record says it")
        if slim is not None:
            slim(row)
        return row

    def of_record(record: R) -> Any:
        row = row_kind(**{name: getattr(record, name) for name in kind.model_fields})
        if slim is not None:
            slim(row)
        return row

    return list(_each(path, kind, checked, of_record))


class Row:
    """What rows of every kind can do."""

    __slots__ = ()

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """The same with other values."""
        return replace(self, **update)  # type: ignore[type-var]


@lru_cache(maxsize=32)
def row_type(kind: type[BaseModel]) -> type[Row]:
    """A dataclass with slots that pydantic checks as it checks a `kind`, but for what a kind checks as a whole."""
    config = ConfigDict(extra=kind.model_config.get("extra"), populate_by_name=True)
    fields: list[tuple[str, Any, Any]] = []
    for name, one in kind.model_fields.items():
        said = one.annotation
        if isinstance(said, type) and issubclass(said, BaseModel):
            said = row_type(said)
        default = {} if one.is_required() else {"default": one.default}
        if one.default_factory is not None:
            default = {"default_factory": one.default_factory}
        fields.append((name, Annotated[said, *one.metadata, Field(alias=one.alias)], field(**default, kw_only=True)))
    made = make_dataclass(f"{kind.__name__}Row", fields, bases=(Row,), slots=True)
    made.__pydantic_config__ = config  # type: ignore[attr-defined]
    return made


def _each(path: Path, kind: type[R], fast: Callable[[bytes], T], of_record: Callable[[R], T]) -> Iterator[T]:
    """Each line by `fast`, which raises ValueError for what it will not take: what the record itself says of such a
    line counts, in its own words, after what is to be said of the whole file."""
    if not path.is_file():  # not there, or what can be read once only
        yield from (of_record(record_of(value, kind, path, number)) for number, value in read_objects(path))
        return
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if number == 1:
                line = line.removeprefix(BOM_UTF8)
            if len(line) < _SHORTEST:
                try:
                    yield fast(line)
                    continue
                except ValueError:
                    pass
            try:
                value = _object(line.decode().removesuffix("\n"), path, number)
                made = None if value is None else of_record(record_of(value, kind, path, number))
            except (InputError, UnicodeDecodeError):
                read_text(path)
                raise
            if made is not None:
                yield made


_one_line = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write records as JSON Lines, atomically, keys in the order of the model's fields."""
    write_text(path, "".join(json_line(record.dump()) for record in records))


def json_line(value: Mapping[str, Any]) -> str:
    """One JSON Lines line, with its newline; NaN and infinity are refused."""
    return _one_line(value) + "\n"


def read_json(path: Path) -> Any:
    """The content of a JSON file. Raises InputError."""
    return json_of(read_text(path), path)


def read_model(path: Path, kind: type[R], remedy: str) -> R:
    """The record in a JSON file. Raises InputError, with the remedy where it is of another layout."""
    return record_of(read_json(path), kind, path, remedy=remedy)


def write_json(path: Path, value: Any) -> None:
    """Write JSON, indented, atomically; NaN and infinity are refused."""
    write_text(path, json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1) + "\n")


Rankings = dict[str, list[tuple[str, float]]]
"""Query id to (passage id, score), best first, scores strictly falling."""


Qrels = dict[str, dict[str, int]]
"""Query id to passage id to label. A pair that is absent is unjudged, not 0."""


_LARGEST_LABEL = 1_000_000


def write_run(path: Path, rankings: Mapping[str, Iterable[tuple[str, float]]], tag: str) -> None:
    """Write a TREC run. Scores are made to fall strictly within a query: trec_eval sorts by score, not by rank."""
    stream_run(path, rankings.items(), tag)


def stream_run(path: Path, rankings: Iterable[tuple[str, Iterable[tuple[str, float]]]], tag: str) -> None:
    """Write a TREC run as its rankings come, (query id, ranking) at a time; the file is there when all have."""

    def lines() -> Iterator[bytes]:
        for query_id, ranking in rankings:
            last = float("inf")
            for rank, (passage_id, score) in enumerate(ranking, 1):
                last = min(round(score, 6), round(last - 1e-6, 6))
                line = f"{query_id} Q0 {passage_id} {rank} {last:.6f} {tag}\n"
                yield line.encode("utf-8", "surrogatepass")

    write_parts(path, lines())


def read_run(path: Path) -> Rankings:
    """A TREC run, each query's passages by falling score (ties by rank). Raises InputError with the line.

    The ids are interned: many agents' runs name the same passages.
    """
    rows: dict[str, list[tuple[float, int, str]]] = {}
    ranks: dict[str, int] = {}
    for number, parts in _columns(path):
        if len(parts) != 6:
            raise InputError(f"has {len(parts)} columns, a TREC run has 6", file=path, line=number)
        rank = ranks.get(parts[3])
        if rank is None:
            rank = ranks[parts[3]] = int(_number(parts[3], path, number))
        rows.setdefault(parts[0], []).append((-_number(parts[4], path, number), rank, intern(parts[2])))
    return {intern(query_id): [(pid, -neg) for neg, _, pid in sorted(row)] for query_id, row in rows.items()}


def write_qrels(path: Path, qrels: Mapping[str, Mapping[str, int]]) -> None:
    """Write TREC qrels: `qid 0 passage label`."""
    write_text(path, "".join(f"{q} 0 {p} {label}\n" for q, row in qrels.items() for p, label in row.items()))


def read_qrels(path: Path) -> Qrels:
    """Qrels in TREC's layout (4 columns) or BEIR's (3 columns, tab-separated, with a header).

    Raises InputError with the line, also where a passage has two labels for a query.
    """
    qrels: Qrels = {}
    for number, parts in _columns(path):
        if number == 1 and parts[-1].lower() in {"score", "label", "relevance"}:
            continue
        if len(parts) not in {3, 4}:
            raise InputError(f"has {len(parts)} columns, qrels have 3 (BEIR) or 4 (TREC)", file=path, line=number)
        value, labels = _number(parts[-1], path, number), qrels.setdefault(parts[0], {})
        if value != (label := int(value)) or abs(value) > _LARGEST_LABEL:
            problem = f"label {plain(parts[-1])} is not a whole number of reasonable size"
            raise InputError(problem, file=path, line=number)
        if labels.setdefault(parts[-2], label) != label:
            problem = f"gives '{plain(parts[-2])}' another label for query '{plain(parts[0])}' than an earlier line"
            raise InputError(problem, file=path, line=number)
    return qrels


def _columns(path: Path) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if parts := line.split():
            yield number, parts


def _number(text: str, path: Path, line: int) -> float:
    try:
        value = float(text.replace("_", "?"))
    except ValueError:
        raise InputError(f"'{plain(text)}' is not a number", file=path, line=line) from None
    if value - value != 0:
        raise InputError(f"'{plain(text)}' is not a finite number", file=path, line=line)
    return value
