"""Queries and corpora as people have them: BEIR's JSON Lines, a table of id and text, TREC's topics and documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import Literal

from ..errors import InputError
from ..files import read_records, read_text
from ..records import Passage, Query
from ..text import csv_text, plain

Field = Literal["title", "desc", "narr"]
"""Of a TREC topic: the few words, the sentence, and what is relevant."""

_QUERIES = (
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
            raise InputError(problem, file=path, line=number, remedy=_QUERIES)
        yield Query(id=cells[0], text=csv_text(cells[1]))


def _topics(path: Path, text: str, fields: Sequence[Field]) -> Iterator[Query]:
    found = False
    for topic in _TOPIC.finditer(text):
        found = True
        line = text.count("\n", 0, topic.start()) + 1
        parts = _parts(topic[1])
        if not (number := parts.get("num", "")) or len(number.split()) != 1:
            raise InputError("a topic without its number (<num>)", file=path, line=line, remedy=_QUERIES)
        told = [parts[field] for field in fields if parts.get(field)]
        if not told:
            problem = f"topic {plain(number)} has no {' and no '.join(f'<{field}>' for field in fields)}"
            there = ", ".join(name for name in parts if name != "num") or "nothing"
            raise InputError(problem, file=path, line=line, remedy=f"it has {plain(there)}: name it with --topic-field")
        yield Query(id=number.lstrip("0") or "0" if number.isdecimal() else number, text=" ".join(told))
    if not found:
        raise InputError("has no <top>", file=path, line=1, remedy=_QUERIES)


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


_CORPORA = "a corpus is JSON Lines with _id and text (BEIR), or a TREC collection (<DOC> <DOCNO> … </DOC>)"

_TITLES = ("title", "headline", "head", "hl", "ttl", "ti")
_ASIDE = ("docno", "docid", "dochdr")
_START, _END = re.compile(rb"<doc\s*>", re.I), re.compile(rb"</doc\s*>", re.I)
_MARKUP = re.compile(r"<[/!]?[a-zA-Z][^<>]*>|<!--.*?-->", re.S)


class TrecCollection:
    """The documents of a file as passages, one at a time; each iteration reads the file anew.

    The title is what stands in TITLE, HEADLINE, HEAD, HL, TTL or TI; the text everything else but DOCNO, DOCID and
    DOCHDR. A document that is not UTF-8 is read as ISO 8859-1, in which old collections are. Iterating raises
    InputError with the line of a document without its DOCNO or its end, and of what stands between documents.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self) -> Iterator[Passage]:
        for line, document in self._documents():
            try:
                text = document.decode("utf-8")
            except UnicodeDecodeError:
                text = document.decode("iso-8859-1")
            yield self._passage(text, line)

    def _documents(self) -> Iterator[tuple[int, bytes]]:
        """(line it begins in, what stands between its tags)."""
        begun, held = 0, bytearray()
        with self.path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                rest = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                while rest:
                    if not begun:
                        start = _START.search(rest)
                        if (rest[: start.start()] if start else rest).strip():
                            raise InputError("stands outside <DOC>", file=self.path, line=number, remedy=_CORPORA)
                        begun, rest = (number, rest[start.end() :]) if start else (0, b"")
                    elif end := _END.search(rest):
                        yield begun, bytes(held + rest[: end.start()])
                        begun, held, rest = 0, bytearray(), rest[end.end() :]
                    else:
                        held += rest
                        rest = b""
        if begun:
            raise InputError("a document without </DOC>", file=self.path, line=begun, remedy=_CORPORA)

    def _passage(self, document: str, line: int) -> Passage:
        identifier = _words(" ".join(_inside(document, "docno")[:1]))
        if not identifier:
            raise InputError("a document without its <DOCNO>", file=self.path, line=line, remedy=_CORPORA)
        titles = [words for name in _TITLES for part in _inside(document, name) if (words := _words(part))]
        for name in (*_ASIDE, *_TITLES):
            document = re.sub(rf"<{name}\b[^>]*>.*?</{name}\s*>", " ", document, flags=re.S | re.I)
        return Passage(id=identifier, title=" ".join(titles), text=_words(document))


def _inside(document: str, name: str) -> list[str]:
    return re.findall(rf"<{name}\b[^>]*>(.*?)</{name}\s*>", document, re.S | re.I)


def _words(marked: str) -> str:
    return " ".join(unescape(_MARKUP.sub(" ", marked)).split())


def is_trec_collection(path: Path) -> bool:
    """Whether the file begins with a tag."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"
