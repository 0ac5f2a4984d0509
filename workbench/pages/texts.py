"""The documents' texts page by page, as offsets count in them: read from `pages.jsonl` a document at a time."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError
from pydantic_core import from_json

from ragassay.errors import InputError
from ragassay.evidence import Quotable
from ragassay.files import first_problem
from ragassay.records import Page

KEPT = 8
"""Documents whose texts stay in memory."""


@dataclass(frozen=True)
class Piece:
    """The part of a stretch that stands on one page: its ends in characters of the page's text."""

    page: int
    start: int
    end: int


@dataclass(frozen=True)
class DocumentPages:
    """One document: its pages' numbers, ascending, and their texts; the document's text is these joined by newlines."""

    doc: str
    pages: tuple[Page, ...]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(page.text) + 1 for page in self.pages)]

    @cached_property
    def text(self) -> str:
        """What `start` and `end` of passages and evidence count in."""
        return "\n".join(page.text for page in self.pages)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The pages' numbers."""
        return tuple(page.page for page in self.pages)

    def page(self, number: int) -> Page | None:
        """The page of that number; None where it was left out or not read."""
        return next((page for page in self.pages if page.page == number), None)

    def of_pages(self, first: int, last: int) -> tuple[int, int] | None:
        """From the beginning of one page to the end of another; None where it has not both."""
        if not {first, last} <= set(self.numbers) or last < first:
            return None
        end = self.numbers.index(last)
        return self._starts[self.numbers.index(first)], self._starts[end] + len(self.pages[end].text)

    def pieces(self, start: int, end: int) -> list[Piece]:
        """What of the characters `start` to `end` of the document's text stands on which page."""
        found = []
        for index in range(max(bisect_right(self._starts, start) - 1, 0), len(self.pages)):
            at, length = self._starts[index], len(self.pages[index].text)
            if at >= end:
                break
            one, other = max(start - at, 0), min(end - at, length)
            if self.pages[index].text[one:other].strip():
                found.append(Piece(self.pages[index].page, one, other))
        return found


class Texts:
    """The texts of one results folder; where `pages.jsonl` has changed it is read anew."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._lines: dict[str, list[tuple[int, int]]] = {}
        self._numbers: dict[str, set[int]] = {}
        self._kept: OrderedDict[str, DocumentPages] = OrderedDict()

    def document(self, doc: str) -> DocumentPages | None:
        """The document's pages; None for one that has none. Raises InputError with the line."""
        with self._lock:
            self._look()
            if doc not in self._lines:
                return None
            if doc not in self._kept:
                self._kept[doc] = self._read(doc)
            self._kept.move_to_end(doc)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return self._kept[doc]

    def numbers(self, doc: str) -> set[int]:
        """The numbers of the document's pages, without reading them; none without any. Raises InputError."""
        with self._lock:
            self._look()
            return self._numbers.get(doc, set())

    def _look(self) -> None:
        """Find which lines are of which document, unless it is known."""
        stat = self._path.stat() if self._path.is_file() else None
        stamp = stat and (stat.st_size, stat.st_mtime_ns)
        if stamp == self._stamp:
            return
        self._kept.clear()
        self._lines, self._numbers, self._stamp, at = {}, {}, None, 0
        if stamp is None:
            return
        with self._path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    try:
                        found = from_json(line)
                        doc, page = str(found["doc"]), int(found["page"])
                    except (ValueError, KeyError, TypeError):
                        remedy = "run `ragassay ingest` again"
                        raise InputError("this is no page", file=self._path, line=number, remedy=remedy) from None
                    self._lines.setdefault(doc, []).append((at, number))
                    self._numbers.setdefault(doc, set()).add(page)
                at += len(line)
        self._stamp = stamp

    def _read(self, doc: str) -> DocumentPages:
        pages = []
        with self._path.open("rb") as stream:
            for at, number in self._lines[doc]:
                stream.seek(at)
                try:
                    pages.append(Page.model_validate_json(stream.readline()))
                except ValidationError as error:
                    raise InputError(first_problem(error), file=self._path, line=number) from None
        return DocumentPages(doc, tuple(pages))


Kind = Literal["passage", "evidence"]


@dataclass(frozen=True)
class Stretch:
    """Characters of a document's text, and what they are."""

    kind: Kind
    start: int
    end: int


def stretch_of_passage(passage: Mapping[str, Any], document: DocumentPages) -> Stretch | None:
    """Where a passage stands; None where its offsets do not hold its text (another run cut it)."""
    start, end = passage["metadata"].get("start"), passage["metadata"].get("end")
    if not isinstance(start, int) or not isinstance(end, int) or document.text[start:end] != passage["text"]:
        return None
    return Stretch("passage", start, end)


def evidence_in(metadata: Mapping[str, Any], document: DocumentPages) -> list[Stretch]:
    """The evidence of a query that stands in the document and is more precise than whole pages, in the text's order."""
    found = (_stretch(piece, document) for piece in _pieces(metadata) if piece.get("doc") == document.doc)
    return sorted((one for one in found if one is not None), key=lambda one: one.start)


def documents_of(metadata: Mapping[str, Any]) -> list[str]:
    """The documents that a query's evidence names, each once."""
    return list(dict.fromkeys(piece["doc"] for piece in _pieces(metadata) if isinstance(piece.get("doc"), str)))


def _pieces(metadata: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    given = metadata.get("evidence")
    yield from (piece for piece in given if isinstance(piece, dict)) if isinstance(given, list) else ()


def _stretch(piece: Mapping[str, Any], document: DocumentPages) -> Stretch | None:
    start, end, quote = piece.get("start"), piece.get("end"), piece.get("quote")
    if isinstance(quote, str):
        found = Quotable(document.text).find(quote)
        return Stretch("evidence", *found) if found else None
    if isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(document.text):
        return Stretch("evidence", start, end)
    return None
