"""One piece of evidence, in any of the forms in which it is written, made a span of a document's text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import InputError
from ..records import Passage
from ..text import did_you_mean, plain
from .documents import Documents
from .quotes import SHORTEST
from .spans import Span, place_of

Passages = Mapping[str, Passage]

FORMS = (
    '{"doc": …, "start": …, "end": …}, {"doc": …, "quote": …}, {"doc": …, "first_page": …, "last_page": …} or '
    '{"passage": …}'
)
_SHOWN = 60


def span_of(piece: object, documents: Documents, passages: Callable[[], Passages]) -> Span:
    """Where a piece stands, without white space at its ends.

    passages: those of corpus.jsonl by their ids, asked for only where a piece names one. Raises InputError, without
    file and line, where the piece has none of `FORMS` or is not in the documents.
    """
    if not isinstance(piece, dict):
        raise InputError("is not an object", remedy=f"write {FORMS}")
    if set(piece) == {"passage"}:
        return _with_text(_of_passage(piece, documents, passages()), documents)
    if make := _FORMS.get(frozenset(piece)):
        return _with_text(make(piece, documents), documents)
    named = ", ".join(f"'{plain(str(key))}'" for key in sorted(piece)) or "nothing"
    raise InputError(f"has {named}", remedy=f"write {FORMS}, each by itself")


def _of_passage(piece: Mapping[str, Any], documents: Documents, passages: Passages) -> Span:
    name = _text(piece, "passage")
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
    _check_doc(span.doc, documents)
    return _within(span, documents)


def _of_offsets(piece: Mapping[str, Any], documents: Documents) -> Span:
    return _within(Span(_doc(piece, documents), _whole(piece, "start"), _whole(piece, "end")), documents)


def _of_quote(piece: Mapping[str, Any], documents: Documents) -> Span:
    doc, quote = _doc(piece, documents), _text(piece, "quote")
    span = documents.of_quote(doc, quote)
    if span is None:
        shown = plain(" ".join(quote.split()))
        shown = shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"
        raise InputError(
            f"the quote “{shown}” does not stand in {plain(doc)}",
            remedy=f"copy at least {SHORTEST} characters that stand in its text in pages.jsonl, or give the pages",
        )
    return span


def _of_pages(piece: Mapping[str, Any], documents: Documents) -> Span:
    doc, first, last = _doc(piece, documents), _whole(piece, "first_page"), _whole(piece, "last_page")
    if first > last:
        raise InputError(f"first_page {first} is after last_page {last}", remedy="exchange them")
    for page in (first, last):
        if not documents.has_page(doc, page):
            remedy = "pages count from 1; one that exclude_pages leaves out, or that cannot be read, holds no evidence"
            raise InputError(f"page {page} of {plain(doc)} is not in pages.jsonl", remedy=remedy)
    return documents.of_pages(doc, first, last)


_FORMS: Mapping[frozenset[str], Callable[[Mapping[str, Any], Documents], Span]] = {
    frozenset(("doc", "start", "end")): _of_offsets,
    frozenset(("doc", "quote")): _of_quote,
    frozenset(("doc", "first_page", "last_page")): _of_pages,
}


def _within(span: Span, documents: Documents) -> Span:
    length = len(documents.text(span.doc))
    if span.start >= span.end:
        raise InputError(f"start {span.start} is not before end {span.end}", remedy="end is the first one after it")
    if span.start < 0 or span.end > length:
        raise InputError(
            f"{span.start} to {span.end} is outside the text of {plain(span.doc)}, which has {length:,} characters",
            remedy="count in its pages of pages.jsonl joined by newlines, or give a quote",
        )
    return span


def _with_text(span: Span, documents: Documents) -> Span:
    found = documents.stripped(span)
    if found is None:
        raise InputError(f"there is no text at {span.start} to {span.end} of {plain(span.doc)}", remedy="give others")
    return found


def _doc(piece: Mapping[str, Any], documents: Documents) -> str:
    doc = _text(piece, "doc")
    _check_doc(doc, documents)
    return doc


def _check_doc(doc: str, documents: Documents) -> None:
    if doc not in documents.names:
        remedy = f"{did_you_mean(doc, documents.names)}name it as pages.jsonl does, with its folder in the corpus"
        raise InputError(f"names the document '{plain(doc)}', of which there is no text", remedy=remedy)


def _text(piece: Mapping[str, Any], key: str) -> str:
    if not isinstance(piece[key], str):
        raise InputError(f"'{key}' is not a text", remedy=f"write {FORMS}")
    return str(piece[key])


def _whole(piece: Mapping[str, Any], key: str) -> int:
    if type(piece[key]) is not int:
        raise InputError(f"'{key}' is not a whole number", remedy=f"write {FORMS}")
    return int(piece[key])
