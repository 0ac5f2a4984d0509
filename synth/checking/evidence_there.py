"""Whether the evidence that a question brings stands in the corpus, where it stands, and its text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragassay.errors import InputError
from ragassay.evidence.forms import PASSAGE, QUOTE
from ragassay.evidence.pieces import span_of
from ragassay.evidence.spans import Span
from ragassay.text import one_line

from .corpus_text import CorpusText, document_of
from .test_set import Item, Piece

THERE = 0.25
"""Share of a text's pieces that must stand in the corpus (docs/check.md has what it was measured on)."""


@dataclass(frozen=True)
class Found:
    """One piece of evidence. text, doc, span: as far as they are known. fault: why it is not in the corpus.

    share: of a text from elsewhere, how much of it stands there, 0 to 1. judged: whether it could be looked up.
    """

    text: str = ""
    doc: str | None = None
    span: Span | None = None
    fault: str | None = None
    share: float | None = None
    judged: bool = True


def evidence_of(item: Item, corpus: CorpusText) -> tuple[Found, ...]:
    """Each piece of the item's evidence, looked up; none where it brings none."""
    return tuple(_found(piece, corpus) for piece in item.evidence)


def _found(piece: Piece, corpus: CorpusText) -> Found:
    if isinstance(piece, str):
        return _text(piece, corpus)
    if frozenset(piece) == PASSAGE and corpus.pages is None:
        return _passage(str(piece["passage"]), corpus)
    if corpus.pages is None:
        return _without_pages(piece, corpus)
    try:
        span = span_of(piece, corpus.pages, lambda: corpus.passages)
    except InputError as error:
        if frozenset(piece) == PASSAGE and piece["passage"] in corpus.passages:
            return _passage(str(piece["passage"]), corpus)  # it does not say where it stands
        return Found(str(piece.get("quote", "")), fault=error.problem)
    return Found(corpus.pages.text(span.doc)[span.start : span.end], span.doc, span)


def _text(text: str, corpus: CorpusText) -> Found:
    share = corpus.share_of(text)
    if share < THERE:
        shown = one_line(text)
        shown = shown if len(shown) <= 60 else shown[:60] + "…"
        return Found(text, fault=f"{_share(share)} of “{shown}” stands in the corpus", share=share)
    doc = corpus.document_with(text)
    span = corpus.pages.of_quote(doc, text) if corpus.pages and doc else None
    return Found(text, doc, span, share=share)


def _share(share: float) -> str:
    return f"only {share:.0%}" if share else "nothing"


def _passage(name: str, corpus: CorpusText) -> Found:
    if (passage := corpus.passages.get(name)) is None:
        return Found(fault=f"the passage '{name}' is not in the corpus")
    return Found("\n".join(filter(None, (passage.title, passage.text))), document_of(passage))


def _without_pages(piece: Mapping[str, Any], corpus: CorpusText) -> Found:
    """Without pages.jsonl a document and a quote can be looked up; pages and offsets cannot."""
    doc = piece["doc"]
    if doc not in corpus.documents:
        return Found(fault=f"names the document '{doc}', of which there is no text")
    if frozenset(piece) == QUOTE:
        return _text(piece["quote"], corpus)
    return Found(doc=doc, judged=False)
