"""Spans of a document's text, in which evidence and passages meet, however the passages were cut."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..records import Passage


class Span(NamedTuple):
    """Characters `start` to `end` (from 0, end exclusive) of the text of `doc`: its pages joined by newlines."""

    doc: str
    start: int
    end: int


Evidence = tuple[Span, ...]
"""The pieces a query rests on: by document and place, none overlapping another. One at least."""


def merged(spans: Iterable[Span]) -> Evidence:
    """The spans by document and place, those that overlap made one; spans that only touch stay two."""
    found: list[Span] = []
    for span in sorted(spans):
        last = found[-1] if found else None
        if last and last.doc == span.doc and span.start < last.end:
            found[-1] = Span(last.doc, last.start, max(last.end, span.end))
        else:
            found.append(span)
    return tuple(found)


def place_of(passage: Passage) -> Span | None:
    """Where a passage stands, by its metadata (doc, start, end); None where that does not say it."""
    doc, start, end = (passage.metadata.get(key) for key in ("doc", "start", "end"))
    if isinstance(doc, str) and type(start) is int and type(end) is int and 0 <= start < end:
        return Span(doc, start, end)
    return None
