"""One piece of evidence, in any of its forms, made a span of a document's text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import InputError
from ..records import Passage
from ..text import did_you_mean, plain
from .documents import Documents
from .forms import OFFSETS, PASSAGE, QUOTE
from .spans import Span, place_of

_SHOWN = 60


def span_of(piece: Mapping[str, Any], documents: Documents, passages: Callable[[], Mapping[str, Passage]]) -> Span:
    """Where a piece stands that has one of the forms, without white space at its ends.

    passages: those of corpus.jsonl by their ids, asked for only where a piece names one. Raises InputError, without
    file and line, where what it names is not in the documents.
    """
    span = _of_passage(piece["passage"], passages()) if frozenset(piece) == PASSAGE else None
    doc = span.doc if span else piece["doc"]
    if doc not in documents.names:
        remedy = f"{did_you_mean(doc, documents.names)}name it as pages.jsonl does, with its folder in the corpus"
        raise InputError(f"names the document '{plain(doc)}', of which there is no text", remedy=remedy)
    found = span or _in_document(piece, documents)
    length = len(documents.text(doc))
    if found.end > length:
        raise InputError(
            f"{found.start} to {found.end} is outside the text of {plain(doc)}, which has {length:,} characters",
            remedy="count in its pages of pages.jsonl joined by newlines, or give a quote",
        )
    if (stripped := documents.stripped(found)) is None:
        raise InputError(f"there is no text at {found.start} to {found.end} of {plain(doc)}", remedy="give others")
    return stripped


def _of_passage(name: str, passages: Mapping[str, Passage]) -> Span:
    if name not in passages:
        known = did_you_mean(name, passages)
        raise InputError(
            f"names the passage '{plain(name)}', which is not in corpus.jsonl",
            remedy=f"{known}give one of its ids, or a document and a quote, which stay true when passages change",
        )
    span = place_of(passages[name])
    if span is None:
        problem = f"the passage '{plain(name)}' does not say where it stands (metadata doc, start, end)"
        raise InputError(problem, remedy="give a document and a quote instead")
    return span


def _in_document(piece: Mapping[str, Any], documents: Documents) -> Span:
    form = frozenset(piece)
    if form == OFFSETS:
        return Span(piece["doc"], piece["start"], piece["end"])
    if form == QUOTE:
        return _of_quote(piece["doc"], piece["quote"], documents)
    return _of_pages(piece["doc"], piece["first_page"], piece["last_page"], documents)


def _of_quote(doc: str, quote: str, documents: Documents) -> Span:
    span = documents.of_quote(doc, quote)
    if span is None:
        shown = plain(" ".join(quote.split()))
        shown = shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"
        remedy = "copy it from its text in pages.jsonl, or give the pages"
        raise InputError(f"the quote “{shown}” does not stand in {plain(doc)}", remedy=remedy)
    return span


def _of_pages(doc: str, first: int, last: int, documents: Documents) -> Span:
    for page in (first, last):
        if not documents.has_page(doc, page):
            remedy = "name pages that are there; one left out by exclude_pages, or that cannot be read, is not"
            raise InputError(f"page {page} of {plain(doc)} is not in pages.jsonl", remedy=remedy)
    return documents.of_pages(doc, first, last)
