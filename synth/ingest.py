"""The first stage: the PDFs of a corpus folder become pages, sections and passages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragassay.errors import InputError
from ragassay.files import plain, write_records
from ragassay.records import Page, Record
from ragassay.workspace import StageOutcome, Workspace
from synth.contents_pages import strip_contents
from synth.doc_ids import document_ids, find_documents
from synth.document_text import DocumentText
from synth.page_furniture import strip_furniture
from synth.page_ranges import ExcludedPages
from synth.page_text import clean_characters, join_broken_words
from synth.passages import make_passages
from synth.pdf_pool import PageText, PdfPool, Probe
from synth.pdf_readers import OutlineEntry
from synth.sections import make_sections

MOSTLY_WITHOUT_TEXT = 0.5
RUN_TOGETHER_SHARE = 0.2
RUN_TOGETHER = re.compile(r"[A-Za-z]{21,}")

NO_TEXT = "has no text on its pages; if they are scans, add text with OCR first (ocrmypdf in.pdf out.pdf)"
NOT_UTF8 = "its name is not UTF-8; rename it"


class Unreadable(Record):
    """A line of `unreadable.jsonl`: a PDF of which something, or everything, could not be read, and why."""

    doc: str
    error: str


@dataclass(frozen=True)
class _Document:
    """What became of one PDF: its text, or None; `error` where it, or some of its pages, could not be read."""

    doc: str
    text: DocumentText | None = None
    error: str | None = None
    hint: str | None = None


def ingest(workspace: Workspace, progress: Callable[[int, int], None] | None = None) -> StageOutcome:
    """Write `pages.jsonl`, `sections.jsonl`, `corpus.jsonl` and `unreadable.jsonl`.

    `progress` is called with (pages read, pages in all). A PDF that cannot be read, or has no text, is recorded and
    said, and the others go on: the exit status is then 2. Raises InputError for no PDFs, none that can be read, two
    whose ids would be the same, and exclude_pages that do not fit the documents.
    """
    names = find_documents(workspace.corpus, workspace.results)
    identifiers = document_ids(names)
    excluded = ExcludedPages(workspace.experiment.corpus.exclude_pages, workspace.corpus / "experiment.toml")
    excluded.check_documents(names)
    documents = _read(workspace, names, excluded, progress)
    texts = [document.text for document in documents if document.text]
    if not texts:
        raise _none_readable(workspace.corpus, documents)
    n_passages = _write(workspace, texts, identifiers)
    failed = [Unreadable(doc=d.doc, error=d.error) for d in documents if d.error]
    write_records(workspace.unreadable, failed)
    notices = [plain(f"{bad.doc}: {bad.error}") for bad in failed]
    notices += [plain(f"{document.doc}: {document.hint}") for document in documents if document.hint]
    return StageOutcome(tuple(notices), 2 if failed else 0, n_passages, len(failed))


def _read(
    workspace: Workspace,
    names: Sequence[str],
    excluded: ExcludedPages,
    progress: Callable[[int, int], None] | None,
) -> list[_Document]:
    reader = workspace.experiment.ingest.reader
    documents = {name: _Document(_storable(name), error=NOT_UTF8) for name in names if _storable(name) != name}
    good = [name for name in names if name not in documents]
    with PdfPool(reader) as pool:
        probes = dict(zip(good, pool.probe([workspace.corpus / name for name in good]), strict=True))
        kept = {name: excluded.kept(name, probe.pages) for name, probe in probes.items() if not probe.error}
        pages = pool.read([(workspace.corpus / name, numbers) for name, numbers in kept.items()], progress)
    read = dict(zip(kept, pages, strict=True))
    for name, probe in probes.items():
        documents[name] = _document(name, probe, read.get(name, []), reader)
    return [documents[name] for name in names]


def _storable(name: str) -> str:
    """The file's name as text; what is not UTF-8 in it becomes a replacement character."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _document(doc: str, probe: Probe, pages: Sequence[PageText], reader: str) -> _Document:
    if probe.error:
        return _Document(doc, error=probe.error)
    readable = [page for page in pages if page.error is None]
    text = clean_document(doc, {page.page: page.text or "" for page in readable}, probe.outline)
    if not text.text.strip():
        return _Document(doc, error=_failed_pages(pages) or NO_TEXT)
    failed = _failed_pages(pages)
    return _Document(doc, text, f"{failed}; its other pages are used" if failed else None, _hint(text, reader))


def _failed_pages(pages: Sequence[PageText]) -> str | None:
    failed = [page for page in pages if page.error is not None]
    if not failed:
        return None
    numbers = ", ".join(str(page.page) for page in failed[:10]) + (", …" if len(failed) > 10 else "")
    return f"{len(failed)} of {len(pages)} pages cannot be read (page {numbers}: {failed[0].error})"


def clean_document(doc: str, pages: Mapping[int, str], outline: Sequence[OutlineEntry] = ()) -> DocumentText:
    """The text of a document from its raw pages (number to text): characters, furniture, contents, broken words.

    A document that is nothing but contents keeps them.
    """
    numbers = sorted(pages)
    characters = [clean_characters(pages[number]) for number in numbers]
    stripped = strip_furniture(numbers, characters)
    texts = strip_contents(numbers, stripped.pages, set(stripped.distances))
    if not any(texts):
        texts = stripped.pages
    return DocumentText(doc, tuple(zip(numbers, join_broken_words(texts), strict=True)), tuple(outline))


def _hint(text: DocumentText, reader: str) -> str | None:
    """What the user should know of a document that was read, but badly."""
    letters = sum(map(str.isalpha, text.text))
    if reader == "pypdf" and sum(map(len, RUN_TOGETHER.findall(text.text))) > RUN_TOGETHER_SHARE * letters:
        return 'its words run together as pypdf reads it; set reader = "pdfium" under [ingest]'
    empty = sum(not page.strip() for _, page in text.pages)
    if empty > MOSTLY_WITHOUT_TEXT * len(text.pages):
        return f"{empty} of {len(text.pages)} pages have no text; if they are scans, add text with OCR first"
    return None


def _none_readable(corpus: Path, documents: Sequence[_Document]) -> InputError:
    first = "; ".join(f"{document.doc} {document.error}" for document in documents[:3])
    problem = f"none of the {len(documents)} PDFs can be used" if len(documents) > 1 else "the only PDF cannot be used"
    return InputError(plain(f"{problem}: {first}"), file=corpus)


def _write(workspace: Workspace, texts: Sequence[DocumentText], identifiers: Mapping[str, str]) -> int:
    """Write pages, sections and passages; the number of passages."""
    settings = workspace.experiment.ingest
    pages = [Page(doc=text.doc, page=number, text=page) for text in texts for number, page in text.pages]
    sections, passages = [], []
    for text in texts:
        document_id = identifiers[text.doc]
        sections += make_sections(text, document_id, settings.section_tokens, settings.section_pages)
        passages += make_passages(text, document_id, settings.passage_words, settings.passage_overlap_words)
    write_records(workspace.pages, pages)
    write_records(workspace.sections, sections)
    write_records(workspace.passages, passages)
    return len(passages)
