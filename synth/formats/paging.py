"""Pages for documents that have none: pieces of the text, so that page numbers and offsets mean what they do in PDFs.

Runs in a worker process, and imports nothing of ragassay, to start quickly.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

PAGE_CHARACTERS = 3000
"""About what a printed page holds."""

MOST_PAGES = 100_000


class UnreadableDocument(Exception):
    """A document that cannot be converted; the message says why and, where known, what to do."""


class Heading(NamedTuple):
    """A heading: where its line begins in the text, its depth (1 is the top) and its title."""

    start: int
    level: int
    title: str


class Converted(NamedTuple):
    """A document's pages, its headings as (page from 1, depth, title), and whether its pages are those of paper."""

    pages: list[str]
    outline: list[tuple[int, int, str]]
    printed: bool = False


def paged(text: str, headings: Sequence[Heading] = ()) -> Converted:
    """The text in pages of at most PAGE_CHARACTERS.

    Each is cut as late as may be before a heading in its second half, or else between paragraphs, lines or words there.
    Raises UnreadableDocument for more than MOST_PAGES.
    """
    starts = _starts(text, [heading.start for heading in headings])
    pages = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    check_number(pages)
    outline = [(bisect_right(starts, one.start), one.level, one.title) for one in headings]
    return Converted(pages, outline)


def check_number(pages: Sequence[str]) -> None:
    """Raises UnreadableDocument for more than MOST_PAGES."""
    if len(pages) > MOST_PAGES:
        raise UnreadableDocument(f"has more than {MOST_PAGES:,} pages; divide it")


def _starts(text: str, headings: Sequence[int]) -> list[int]:
    starts = [0]
    while len(text) - starts[-1] > PAGE_CHARACTERS:
        starts.append(_next_start(text, starts[-1], headings))
    return starts


def _next_start(text: str, start: int, headings: Sequence[int]) -> int:
    half, full = start + PAGE_CHARACTERS // 2, start + PAGE_CHARACTERS
    before = bisect_right(headings, full)
    if before and headings[before - 1] > half:
        return headings[before - 1]
    found = ((text.rfind(mark, half, full), len(mark)) for mark in ("\n\n", "\n", " "))
    return next((place + length for place, length in found if place >= 0), full)
