"""From the raw pages of documents to their pages, sections and passages: cleaning and cutting, a document at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ragassay.cores import Cores, Here
from ragassay.experiment.ingest_settings import IngestSettings
from ragassay.experiment.variant_settings import Chunking
from ragassay.records import Page, Passage, Section

from ..pdf.process import PageText, Probe
from ..pdf.readers import OutlineEntry
from ..pdf.soundness import fault
from .chunked import chunk
from .chunking.cut import HERE_ALONE, Means
from .contents_pages import strip_contents
from .page_furniture import strip_furniture
from .page_text import clean_characters, join_broken_words
from .passages import make_passages
from .sections import make_sections
from .text import DocumentText

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
    sections = make_sections(text, raw.identifier, settings.section_tokens, settings.section_pages)
    everywhere = [chunking for chunking in chunkings if chunking.by not in HERE_ALONE]
    return Document(
        raw.doc,
        tuple(Page(doc=text.doc, page=number, text=page) for number, page in text.pages),
        tuple(sections),
        tuple(make_passages(text, raw.identifier, settings.passage_words, settings.passage_overlap_words)),
        error=f"{failed}; its other pages are used" if failed else None,
        hint=_hint(text, raw.pages, settings.reader) if raw.is_pdf else None,
        unreadable=unreadable,
        outline=text.outline,
        chunked=chunk(text, raw.identifier, sections, everywhere),
        identifier=raw.identifier,
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
    if not printed:
        return DocumentText(doc, tuple(zip(numbers, join_broken_words(characters), strict=True)), tuple(outline))
    stripped = strip_furniture(numbers, characters)
    texts = strip_contents(numbers, stripped.pages, set(stripped.distances))
    if not any(texts):
        texts = stripped.pages
    return DocumentText(doc, tuple(zip(numbers, join_broken_words(texts), strict=True)), tuple(outline))


def _failed_pages(pages: Sequence[PageText]) -> str | None:
    reasons: dict[str, list[int]] = {}
    for page in pages:
        if page.error is not None:
            reasons.setdefault(page.error, []).append(page.page)
    if not reasons:
        return None
    said = [_said(numbers, error) for error, numbers in list(reasons.items())[:REASONS_SAID]]
    n_failed = sum(map(len, reasons.values()))
    return f"{n_failed} of {len(pages)} pages cannot be read ({'; '.join(said)}{'; …' * (len(reasons) > REASONS_SAID)})"


def _said(numbers: Sequence[int], error: str) -> str:
    listed = ", ".join(map(str, numbers[:PAGES_SAID])) + (", …" if len(numbers) > PAGES_SAID else "")
    return f"page {listed}: {error}"


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
