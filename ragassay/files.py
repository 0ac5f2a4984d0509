"""Reading and writing the plain files that stages exchange: JSON Lines, TREC runs and qrels, digests.

A file is written to a neighbour and moved into place, so that a reader sees the old one or the new one, never a part.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from .errors import InputError
from .records import Record
from .text import plain as plain

R = TypeVar("R", bound=BaseModel)

Rankings = dict[str, list[tuple[str, float]]]
"""Query id to (passage id, score), best first, scores strictly falling."""

Qrels = dict[str, dict[str, int]]
"""Query id to passage id to label. A pair that is absent is unjudged, not 0."""

_LARGEST_LABEL = 1_000_000


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
            records.append(kind.model_validate(value))
        except ValidationError as error:
            problem = first_problem(error).removeprefix("Value error, ")
            raise InputError(problem, file=path, line=number) from None
    return records


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write records as JSON Lines, atomically, keys in the order of the model's fields."""
    write_text(path, "".join(json_line(record.dump()) for record in records))


def json_line(value: Mapping[str, Any]) -> str:
    """One JSON Lines line, with its newline; NaN and infinity are refused."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n"


def read_json(path: Path) -> Any:
    """The content of a JSON file. Raises InputError."""
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON ({error})", file=path) from None


def write_json(path: Path, value: Any) -> None:
    """Write JSON, indented, atomically; NaN and infinity are refused."""
    write_text(path, json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1) + "\n")


def write_run(path: Path, rankings: Mapping[str, Iterable[tuple[str, float]]], tag: str) -> None:
    """Write a TREC run. Scores are made to fall strictly within a query: trec_eval sorts by score, not by rank."""
    stream_run(path, rankings.items(), tag)


def stream_run(path: Path, rankings: Iterable[tuple[str, Iterable[tuple[str, float]]]], tag: str) -> None:
    """Write a TREC run as its rankings come, (query id, ranking) at a time; the file is there when all have."""
    path.parent.mkdir(parents=True, exist_ok=True)
    special = path.exists() and not path.is_file()
    beside = path if special else path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with naming(path), beside.open("wb") as stream:
            for query_id, ranking in rankings:
                stream.write(_run_lines(query_id, ranking, tag).encode("utf-8", "surrogatepass"))
        if not special:
            os.replace(beside, path)
    finally:
        if not special:
            beside.unlink(missing_ok=True)


def _run_lines(query_id: str, ranking: Iterable[tuple[str, float]], tag: str) -> str:
    lines, last = [], float("inf")
    for rank, (passage_id, score) in enumerate(ranking, 1):
        score = min(round(score, 6), round(last - 1e-6, 6))
        lines.append(f"{query_id} Q0 {passage_id} {rank} {score:.6f} {tag}\n")
        last = score
    return "".join(lines)


def read_run(path: Path) -> Rankings:
    """A TREC run, each query's passages by falling score (ties by rank). Raises InputError with the line."""
    rows: dict[str, list[tuple[float, int, str]]] = {}
    for number, parts in _columns(path):
        if len(parts) != 6:
            raise InputError(f"has {len(parts)} columns, a TREC run has 6", file=path, line=number)
        rank, score = _number(parts[3], path, number), _number(parts[4], path, number)
        rows.setdefault(parts[0], []).append((-score, int(rank), parts[2]))
    return {query_id: [(pid, -neg) for neg, _, pid in sorted(row)] for query_id, row in rows.items()}


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
        label, labels = _label(parts[-1], path, number), qrels.setdefault(parts[0], {})
        if labels.setdefault(parts[-2], label) != label:
            problem = f"gives '{plain(parts[-2])}' another label for query '{plain(parts[0])}' than an earlier line"
            raise InputError(problem, file=path, line=number)
    return qrels


def _columns(path: Path) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if parts := line.split():
            yield number, parts


def _label(text: str, path: Path, line: int) -> int:
    value = _number(text, path, line)
    if value != int(value) or abs(value) > _LARGEST_LABEL:
        raise InputError(f"label {plain(text)} is not a whole number of reasonable size", file=path, line=line)
    return int(value)


def _number(text: str, path: Path, line: int) -> float:
    try:
        value = float(text.replace("_", "?"))
    except ValueError:
        raise InputError(f"'{plain(text)}' is not a number", file=path, line=line) from None
    if value - value != 0:
        raise InputError(f"'{plain(text)}' is not a finite number", file=path, line=line)
    return value


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
