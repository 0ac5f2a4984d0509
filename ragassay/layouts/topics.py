"""Queries as people have them: BEIR's JSON Lines, a table of id and text, and TREC's topics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import Literal

from ..errors import InputError
from ..files import read_records, read_text
from ..records import Query
from ..text import csv_text, plain

Field = Literal["title", "desc", "narr"]
"""Of a TREC topic: the few words, the sentence, and what is relevant."""

LAYOUTS = (
    "queries are JSON Lines with _id and text (BEIR), lines of id, tab and text, or TREC topics "
    "(<top> <num> <title> <desc> <narr>)"
)
_HEADERS = {
    ("id", "text"),
    ("_id", "text"),
    ("qid", "query"),
    ("query_id", "query"),
    ("query_id", "text"),
    ("qid", "text"),
}
_TOPIC = re.compile(r"<top\b[^>]*>(.*?)(</top\s*>|(?=<top\b)|\Z)", re.S | re.I)
_TAG = re.compile(r"</?([a-z][\w-]*)\b[^>]*>", re.I)
_LABELS = {"num": "number", "title": "topic", "desc": "description", "narr": "narrative"}
_NAMES = {"question": "title", "query": "title", "description": "desc", "narrative": "narr", "number": "num"}


def read_queries_file(path: Path, fields: Sequence[Field] = ("title",)) -> list[Query]:
    """The queries of `path`, whose layout is told by how it begins: `{` JSON Lines, `<` topics, else a table.

    fields: of a topic, what makes its text, joined by a space; a topic that lacks one of them has the others. Topic
    numbers lose leading zeros, as in TREC's qrels; a table's texts the apostrophe before what a spreadsheet might run
    (`text.csv_text`). A pipe is JSON Lines. Raises InputError with the line.
    """
    if not path.is_file():
        return read_records(path, Query)
    text = read_text(path)
    begin = text.lstrip()[:1]
    if begin == "<":
        return list(_topics(path, text, fields))
    return read_records(path, Query) if begin in {"{", "[", ""} else list(_table(path, text))


def _table(path: Path, text: str) -> Iterator[Query]:
    for number, line in enumerate(text.split("\n"), 1):
        cells = [cell.strip() for cell in line.rstrip("\r").split("\t")]
        if cells == [""] or (number == 1 and tuple(cell.lower() for cell in cells) in _HEADERS):
            continue
        if len(cells) != 2 or not all(cells):
            problem = f"has {len(cells)} columns, a query has its id and its text"
            raise InputError(problem, file=path, line=number, remedy=LAYOUTS)
        yield Query(id=cells[0], text=csv_text(cells[1]))


def _topics(path: Path, text: str, fields: Sequence[Field]) -> Iterator[Query]:
    found = False
    for topic in _TOPIC.finditer(text):
        found = True
        line = text.count("\n", 0, topic.start()) + 1
        parts = _parts(topic[1])
        if not (number := parts.get("num", "")) or len(number.split()) != 1:
            raise InputError("a topic without its number (<num>)", file=path, line=line, remedy=LAYOUTS)
        told = [parts[field] for field in fields if parts.get(field)]
        if not told:
            problem = f"topic {plain(number)} has no {' and no '.join(f'<{field}>' for field in fields)}"
            there = ", ".join(name for name in parts if name != "num") or "nothing"
            raise InputError(problem, file=path, line=line, remedy=f"it has {plain(there)}: name it with --topic-field")
        yield Query(id=number.lstrip("0") or "0" if number.isdecimal() else number, text=" ".join(told))
    if not found:
        raise InputError("has no <top>", file=path, line=1, remedy=LAYOUTS)


def _parts(topic: str) -> dict[str, str]:
    """Tag to text, without the word that repeats the tag ("Number:") and with white space as single spaces."""
    parts: dict[str, str] = {}
    tags = list(_TAG.finditer(topic))
    for tag, following in zip(tags, [*tags[1:], None], strict=True):
        name = _NAMES.get(tag[1].lower(), tag[1].lower())
        if tag[0].startswith("</") or name in parts:
            continue
        words = " ".join(unescape(topic[tag.end() : following.start() if following else None]).split())
        parts[name] = re.sub(rf"^{_LABELS.get(name, name)}:\s*", "", words, flags=re.I)
    return parts
