"""A TREC collection, document by document: `<DOC>`, `<DOCNO>` and the text between its other tags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from ..errors import InputError
from ..records import Passage

LAYOUTS = "a corpus is JSON Lines with _id and text (BEIR), or a TREC collection (<DOC> <DOCNO> … </DOC>)"

_TITLES = ("title", "headline", "head", "hl", "ttl", "ti")
_ASIDE = ("docno", "docid", "dochdr")
_START, _END = re.compile(rb"<doc\s*>", re.I), re.compile(rb"</doc\s*>", re.I)
_TAG = re.compile(r"<[/!]?[a-zA-Z][^<>]*>|<!--.*?-->", re.S)


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
                            raise InputError("stands outside <DOC>", file=self.path, line=number, remedy=LAYOUTS)
                        begun, rest = (number, rest[start.end() :]) if start else (0, b"")
                    elif end := _END.search(rest):
                        yield begun, bytes(held + rest[: end.start()])
                        begun, held, rest = 0, bytearray(), rest[end.end() :]
                    else:
                        held += rest
                        rest = b""
        if begun:
            raise InputError("a document without </DOC>", file=self.path, line=begun, remedy=LAYOUTS)

    def _passage(self, document: str, line: int) -> Passage:
        identifier = _words(" ".join(_inside(document, "docno")[:1]))
        if not identifier:
            raise InputError("a document without its <DOCNO>", file=self.path, line=line, remedy=LAYOUTS)
        titles = [words for name in _TITLES for part in _inside(document, name) if (words := _words(part))]
        for name in (*_ASIDE, *_TITLES):
            document = re.sub(rf"<{name}\b[^>]*>.*?</{name}\s*>", " ", document, flags=re.S | re.I)
        return Passage(id=identifier, title=" ".join(titles), text=_words(document))


def _inside(document: str, name: str) -> list[str]:
    return re.findall(rf"<{name}\b[^>]*>(.*?)</{name}\s*>", document, re.S | re.I)


def _words(marked: str) -> str:
    return " ".join(unescape(_TAG.sub(" ", marked)).split())


def is_trec_collection(path: Path) -> bool:
    """Whether the file begins with a tag."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"
