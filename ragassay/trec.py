"""TREC runs, and qrels in TREC's or BEIR's layout."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from sys import intern

from .errors import InputError
from .files import naming, read_text, write_text
from .text import plain

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
