"""From the raw pages of documents to their pages, sections and passages: cleaning and cutting, a document at a time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from pathlib import PurePosixPath
from typing import Any

from ragassay.cores import Cores, Here
from ragassay.experiment.tables import IngestSettings
from ragassay.experiment.variant_settings import SECTIONS, Chunking
from ragassay.prompts import count_tokens
from ragassay.records import Page, Passage, Section, grouped
from ragassay.text import some_of

from ..pdf.process import PageText, Probe
from ..pdf.readers import OutlineEntry
from ..pdf.soundness import fault
from .chunking import HERE_ALONE, Means, by_words, spans_of
from .page_furniture import strip_contents, strip_furniture
from .text import DocumentText, Span, best, clean_characters, join_broken_words


def passages_of(
    text: DocumentText,
    document_id: str,
    spans: Iterable[Span],
    chunking: str | None = None,
    sections: Sequence[Section] = (),
) -> list[Passage]:
    """A passage for each of the spans, which ascend. `chunking`: the name of what they were cut by, for the metadata.

    Its title is that of the place where what no passage before has begins, or its own start where it has nothing new.
    sections: the document's, where a passage is to say in which of them most of it lies.
    """
    passages: list[Passage] = []
    covered = 0
    for start, end in spans:
        metadata: dict[str, Any] = where(text, start, end)
        metadata |= {"chunking": chunking} if chunking else {}
        if sections:  # that which holds most of the characters, of equals the first; they ascend without overlap
            first = max(bisect_right(sections, start, key=lambda section: section.start) - 1, 0)
            last = max(bisect_left(sections, end, key=lambda section: section.start), first + 1)
            shared = [min(end, one.end) - max(start, one.start) for one in sections[first:last]]
            metadata["section"] = f"{SECTIONS}.{sections[first + shared.index(max(shared))].id}"
        new = covered if start < covered < end else start
        new += len(text.text[new:end]) - len(text.text[new:end].lstrip())
        name = f"{f'{chunking}.' if chunking else ''}{document_id}-p{len(passages) + 1:05d}"
        passages.append(Passage(id=name, title=_title(text, new), text=text.text[start:end], metadata=metadata))
        covered = max(covered, end)
    return passages


def where(text: DocumentText, start: int, end: int) -> dict[str, Any]:
    """The place of a piece of the text, as a passage's metadata has it."""
    pages = {"first_page": text.page_at(start), "last_page": text.page_at(end - 1)}
    return {"doc": text.doc, **pages, "start": start, "end": end}


def _title(text: DocumentText, offset: int) -> str:
    return text.title_at(offset) or PurePosixPath(text.doc).stem


def chunk(
    text: DocumentText,
    document_id: str,
    sections: Sequence[Section],
    chunkings: Sequence[Chunking],
    means: Means | None = None,
) -> dict[str, tuple[Passage, ...]]:
    """The passages by the chunkings' names; under SECTIONS the sections, where some chunking returns them.

    Raises InputError where the user's own code fails.
    """
    found: dict[str, tuple[Passage, ...]] = {}
    for one in chunkings:
        own = sections if one.returns == "section" else ()
        found[one.name] = tuple(passages_of(text, document_id, spans_of(text, one, means), one.name, own))
    if any(one.returns == "section" for one in chunkings):  # what is handed over where small ones are found
        found[SECTIONS] = tuple(
            Passage(
                id=f"{SECTIONS}.{one.id}",
                title=_title(text, one.start),
                text=one.text,
                metadata=where(text, one.start, one.end) | {"chunking": SECTIONS},
            )
            for one in sections
        )
    return found


SHORTEST = 0.5
LONGEST_LAST = 1.15
SHORTEST_LAST = 0.25
"""Of the tokens asked for: the shortest section that a good place to cut may make, the longest and the shortest last
section of a stretch."""


def make_sections(text: DocumentText, document_id: str, section_tokens: int, section_pages: int) -> list[Section]:
    """Consecutive sections that cover the document, each at most `section_pages` pages and about `section_tokens`
    tokens long, cut before a heading where one is near, else between paragraphs, at a sentence or a line end.

    No section crosses a hole that left-out pages made.
    """
    sections: list[Section] = []
    for spans, places in text.stretches:
        ends = [start for start, _ in spans[1:]] + [spans[-1][1]]
        counts = (count_tokens(text.text[start:end]) for (start, _), end in zip(spans, ends, strict=True))
        total = [0, *accumulate(counts)]  # how many tokens stand before each word, and last how many there are in all
        starts, first = [span[0] for span in spans], 0
        while first < len(spans):
            beyond = text.page_start(text.page_at(starts[first]) + section_pages)
            page_limit = max(bisect_left(starts, beyond), first + 1)
            stop = _fill(total, first, page_limit, section_tokens)
            if stop < len(spans):
                shortest = bisect_left(total, total[first] + SHORTEST * (total[stop] - total[first]))
                earliest = min(max(shortest, first + 1), stop)
                stop = best(places, earliest - 1, stop - 1, stop - 1, (stop - earliest) / 2) + 1
            start, end = starts[first], spans[stop - 1][1]
            name = f"{document_id}-s{len(sections) + 1:04d}"
            sections.append(Section(id=name, text=text.text[start:end], **where(text, start, end)))
            first = stop
    return sections


def _fill(total: Sequence[int], first: int, page_limit: int, tokens: int) -> int:
    """The word before which the section stops at the latest: the budget full, yet no tiny tail left behind."""
    everything = len(total) - 1
    if page_limit == everything and total[-1] - total[first] <= LONGEST_LAST * tokens:
        return everything
    full = min(bisect_right(total, total[first] + tokens) - 1, page_limit)
    leaving_enough = bisect_right(total, total[-1] - SHORTEST_LAST * tokens) - 1
    if full < page_limit or page_limit == everything:
        full = min(full, leaving_enough)
    return max(full, first + 1)


MOSTLY_WITHOUT_TEXT = 0.5
GARBLED_SHARE = 0.1
REASONS_SAID, PAGES_SAID = 3, 10

NO_TEXT = "has no text on its pages; if they are scans, add text with OCR first (ocrmypdf in.pdf out.pdf)"

NOTHING_IN_IT = "has no text"

WORTH_PROCESSES = 4_000_000
"""Characters in all from which processes on this machine are worth the second that they take to start."""


@dataclass(frozen=True)
class Raw:
    """A document as it was read: its probe and its pages; `identifier` is what ids of its pieces begin with.

    `printed`: its pages are those of paper, with heads, feet and contents. `is_pdf`: it is a PDF.
    """

    doc: str
    identifier: str
    probe: Probe
    pages: tuple[PageText, ...]
    printed: bool = True
    is_pdf: bool = True


@dataclass(frozen=True)
class Document:
    """What became of one document: its pieces, none where it cannot be used; `error` where it, or a page, was not read.

    `unreadable` are the numbers of the pages that were not read, where the document was. `chunked` are the passages of
    each [[chunking]] by its name.
    """

    doc: str
    pages: tuple[Page, ...] = ()
    sections: tuple[Section, ...] = ()
    passages: tuple[Passage, ...] = ()
    error: str | None = None
    hint: str | None = None
    unreadable: tuple[int, ...] = ()
    outline: tuple[OutlineEntry, ...] = ()
    chunked: Mapping[str, tuple[Passage, ...]] = field(default_factory=dict)
    identifier: str = ""


def cut_documents(
    raw: Sequence[Raw], settings: IngestSettings, cores: Cores, chunkings: Sequence[Chunking] = ()
) -> Iterator[Document]:
    """What became of each document, in their order; documents are shared out among `cores`."""
    n_characters = sum(len(page.text or "") for document in raw for page in document.pages)
    here: Here = "processes" if n_characters >= WORTH_PROCESSES and len(raw) > 1 else "one"
    done = dict(cores.each(partial(cut_document, settings, tuple(chunkings)), raw, here))
    return (done[number] for number in range(len(raw)))


def cut_document(settings: IngestSettings, chunkings: Sequence[Chunking], raw: Raw) -> Document:
    """Clean one document's pages and cut it into sections, passages, and those of each chunking but of HERE_ALONE."""
    if raw.probe.error:
        return Document(raw.doc, error=raw.probe.error)
    readable = {page.page: page.text or "" for page in raw.pages if page.error is None}
    text = clean_document(raw.doc, readable, raw.probe.outline, printed=raw.printed)
    failed = _failed_pages(raw.pages)
    unreadable = tuple(page.page for page in raw.pages if page.error is not None)
    if not text.text.strip():
        return Document(raw.doc, error=failed or (NO_TEXT if raw.is_pdf else NOTHING_IN_IT), unreadable=unreadable)
    words = by_words(text, settings.passage_words, settings.passage_overlap_words)
    document = divided(text, raw.identifier, passages_of(text, raw.identifier, words), settings, chunkings)
    error = f"{failed}; its other pages are used" if failed else None
    hint = _hint(text, raw.pages, settings.reader) if raw.is_pdf else None
    return replace(document, error=error, hint=hint, unreadable=unreadable)


def divided(
    text: DocumentText,
    identifier: str,
    passages: Sequence[Passage],
    settings: IngestSettings,
    chunkings: Sequence[Chunking],
) -> Document:
    """The document with these passages, its sections, and the passages of each chunking but of HERE_ALONE."""
    sections = make_sections(text, identifier, settings.section_tokens, settings.section_pages)
    everywhere = [chunking for chunking in chunkings if chunking.by not in HERE_ALONE]
    return Document(
        text.doc,
        tuple(Page(doc=text.doc, page=number, text=page) for number, page in text.pages),
        tuple(sections),
        tuple(passages),
        outline=text.outline,
        chunked=chunk(text, identifier, sections, everywhere),
        identifier=identifier,
    )


def chunk_further(document: Document, chunkings: Sequence[Chunking], means: Means | None = None) -> Document:
    """The document with the passages of further chunkings. Raises InputError where the user's own code fails."""
    text = DocumentText(document.doc, tuple((page.page, page.text) for page in document.pages), document.outline)
    more = chunk(text, document.identifier, document.sections, chunkings, means)
    return replace(document, chunked={**document.chunked, **more})


def clean_document(
    doc: str, pages: Mapping[int, str], outline: Sequence[OutlineEntry] = (), *, printed: bool = True
) -> DocumentText:
    """The text of a document from its raw pages (number to text): characters, furniture, contents, broken words.

    A document that is nothing but contents keeps them. Pages that are not printed have neither furniture nor contents.
    """
    numbers = sorted(pages)
    characters = [clean_characters(pages[number]) for number in numbers]
    texts = characters
    if printed:
        stripped = strip_furniture(numbers, characters)
        texts = strip_contents(numbers, stripped.pages, set(stripped.distances))
        if not any(texts):
            texts = stripped.pages
    return DocumentText(doc, tuple(zip(numbers, join_broken_words(texts), strict=True)), tuple(outline))


def _failed_pages(pages: Sequence[PageText]) -> str | None:
    reasons = grouped((page.error, page.page) for page in pages if page.error is not None)
    if not reasons:
        return None
    each = [f"page {some_of(map(str, numbers), PAGES_SAID)}: {error}" for error, numbers in reasons.items()]
    said = "; ".join(each[:REASONS_SAID]) + "; …" * (len(each) > REASONS_SAID)
    return f"{sum(map(len, reasons.values()))} of {len(pages)} pages cannot be read ({said})"


def _hint(text: DocumentText, pages: Sequence[PageText], reader: str) -> str | None:
    """What the user should know of a document that was read, but badly. With "auto" its bad pages are left out."""
    faults = [found for page in pages if page.text and (found := fault(page.text))] if reader != "auto" else []
    if len(faults) > GARBLED_SHARE * len(pages):
        most = Counter(faults).most_common(1)[0][0]
        garbled = f"{len(faults)} of {len(pages)} pages are garbled as {reader} reads it ({most})"
        return f'{garbled}; set reader = "auto" under [ingest]'
    empty = sum(not page.strip() for _, page in text.pages)
    if empty > MOSTLY_WITHOUT_TEXT * len(text.pages):
        return f"{empty} of {len(text.pages)} pages have no text; if they are scans, add text with OCR first"
    return None
