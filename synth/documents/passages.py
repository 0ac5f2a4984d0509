"""Passages: the short pieces of a document that are retrieved, made from where a way of cutting cuts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any

from ragassay.experiment.variant_settings import SECTIONS
from ragassay.records import Passage, Section

from .chunking.words import by_words
from .text import DocumentText, Span


def make_passages(text: DocumentText, document_id: str, passage_words: int, overlap_words: int) -> list[Passage]:
    """The passages of one document, about `passage_words` words long, each beginning about `overlap_words` (less than
    `passage_words`) words before the end of the last, cut at sentence or line ends where there are any.

    No passage crosses a hole that left-out pages made. The title is the heading over what is new in the passage.
    """
    return passages_of(text, document_id, by_words(text, passage_words, overlap_words))


def passages_of(
    text: DocumentText,
    document_id: str,
    spans: Iterable[Span],
    chunking: str | None = None,
    sections: Sequence[Section] = (),
) -> list[Passage]:
    """A passage for each of the spans, which ascend. `chunking`: the name of what they were cut by, for the metadata.

    sections: the document's, where a passage is to say in which of them most of it lies.
    """
    passages: list[Passage] = []
    covered = 0
    for start, end in spans:
        metadata: dict[str, Any] = where(text, start, end)
        metadata |= {"chunking": chunking} if chunking else {}
        metadata |= {"section": section_passage_id(_holding(sections, start, end))} if sections else {}
        passages.append(
            Passage(
                id=f"{f'{chunking}.' if chunking else ''}{document_id}-p{len(passages) + 1:05d}",
                title=_title(text, _first_new(text.text, start, end, covered)),
                text=text.text[start:end],
                metadata=metadata,
            )
        )
        covered = max(covered, end)
    return passages


def section_passages(text: DocumentText, sections: Sequence[Section]) -> list[Passage]:
    """The document's sections as passages, of the chunking SECTIONS: what is handed over where small ones are found."""
    return [
        Passage(
            id=section_passage_id(section),
            title=_title(text, section.start),
            text=section.text,
            metadata=where(text, section.start, section.end) | {"chunking": SECTIONS},
        )
        for section in sections
    ]


def section_passage_id(section: Section) -> str:
    """The id of a section as a passage."""
    return f"{SECTIONS}.{section.id}"


def where(text: DocumentText, start: int, end: int) -> dict[str, Any]:
    """The place of a piece of the text, as a passage's metadata has it."""
    pages = {"first_page": text.page_at(start), "last_page": text.page_at(end - 1)}
    return {"doc": text.doc, **pages, "start": start, "end": end}


def _holding(sections: Sequence[Section], start: int, end: int) -> Section:
    """The section that holds most of the characters, of equals the first; sections ascend without overlap."""
    first = max(bisect_right(sections, start, key=lambda section: section.start) - 1, 0)
    last = max(bisect_left(sections, end, key=lambda section: section.start), first + 1)
    return max(sections[first:last], key=lambda section: min(end, section.end) - max(start, section.start))


def _title(text: DocumentText, offset: int) -> str:
    return text.title_at(offset) or PurePosixPath(text.doc).stem


def _first_new(text: str, start: int, end: int, covered: int) -> int:
    """Where what no passage before has begins; the start of a passage that has nothing new."""
    new = covered if start < covered < end else start
    return new + len(text[new:end]) - len(text[new:end].lstrip())
