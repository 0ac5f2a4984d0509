"""The stretches of a document's text that somebody wants to see: a passage, the evidence of a query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ragassay.evidence.quotes import Quotable

from .texts import DocumentPages

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
