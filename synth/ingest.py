"""The first stage: the documents of a corpus folder become pages, sections and passages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ragassay.cores import Cores
from ragassay.errors import LEFT_OUT, InputError
from ragassay.experiment.plugins import importable
from ragassay.experiment.variant_settings import SECTIONS
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import write_records
from ragassay.records import Record
from ragassay.text import plain

from .documents.chunking import HERE_ALONE, Embed, Means, load_own_cut
from .documents.cutting import MOSTLY_WITHOUT_TEXT, Document, Raw, chunk_further, cut_documents
from .documents.doc_ids import (
    READY,
    ExcludedPages,
    document_files,
    document_ids,
    load_documents,
    other_documents,
    ready_documents,
)
from .documents.page_furniture import suspicious_pages
from .formats import PDF, kind_of
from .pdf.choice import AGREE, SOUND, Opened, Reading, check_ocr, open_documents, read_documents, with_text
from .pdf.process import SECONDS_PER_PAGE, SECONDS_TO_OPEN, PdfPool
from .pdf.readers import ReaderName

NOT_UTF8 = "its name is not UTF-8; rename it"

Report = Callable[[int, int], None]


class ReaderTaken(Record):
    """A line of `readers.jsonl`: what a PDF was read with, and why; `n_other` of `n_pages` are the other reader's."""

    doc: str
    reader: ReaderName
    why: str
    n_pages: int
    n_other: int
    n_unreadable: int


class Unreadable(Record):
    """A line of `unreadable.jsonl`: a document of which something, or everything, could not be read, and why.

    `pages` are the pages (from 1) that could not be read, and are left out; none where the document cannot be opened.
    """

    doc: str
    error: str
    pages: tuple[int, ...] = ()


@dataclass(frozen=True)
class Read:
    """The names of all documents, the pages of those that can be named in a file, and what there is to say."""

    names: tuple[str, ...]
    raw: tuple[Raw, ...]
    taken: tuple[ReaderTaken, ...] = ()
    notices: tuple[str, ...] = ()


def read_raw(workspace: Workspace, progress: Report | None = None) -> Read:
    """Every document's pages that are not excluded. `progress` is called with (pages of PDFs read, and in all).

    Raises InputError for no documents, two whose ids would be the same, exclude_pages that do not fit, a package or
    program that is not installed, and a loader that fails.
    """
    experiment, settings = workspace.experiment, workspace.corpus / "experiment.toml"
    excluded = ExcludedPages(experiment.corpus.exclude_pages, settings)
    if experiment.ingest.loader:
        loaded = load_documents(experiment.ingest.loader, workspace.corpus)
        document_ids(docs := tuple(one.doc for one in loaded))
        excluded.check_documents(docs)
        return Read(docs, tuple(_kept(one, excluded) for one in loaded))
    names, table, run = document_files(workspace), experiment.ingest, experiment.run
    excluded.check_documents(names)
    if table.ocr:
        check_ocr(settings)
    good = [name for name in names if storable(name) == name]
    paths = {name: workspace.corpus / name for name in good if kind_of(name) == PDF}
    others = [name for name in good if name not in paths]
    notices = [notice] if (notice := other_documents(workspace)) else []
    cores = Cores(run.backend, run.scheduler)
    with PdfPool("pdfium" if table.reader == "auto" else table.reader, cores=cores) as pool:
        raw, taken = _read_pdfs(workspace, pool, paths, excluded, progress)
        if table.ocr and (scans := _recognised(workspace, raw, notices)):
            again, taken_again = _read_pdfs(workspace, pool, scans, excluded, progress)
            raw, taken = raw | again, taken | taken_again
        wholes = pool.convert([(workspace.corpus / name, kind_of(name) or "") for name in others])
    for name, whole in zip(others, wholes, strict=True):
        raw[name] = _kept(Raw(name, "", whole.probe, whole.pages, whole.printed, is_pdf=False), excluded)
    return Read(tuple(names), tuple(raw[name] for name in good), tuple(taken.values()), tuple(notices))


def storable(name: str) -> str:
    """The file's name as text; what is not UTF-8 in it becomes a replacement character."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _kept(raw: Raw, excluded: ExcludedPages) -> Raw:
    """Without the excluded pages."""
    if raw.probe.error:
        return raw
    kept = set(excluded.kept(raw.doc, raw.probe.pages))
    return replace(raw, pages=tuple(page for page in raw.pages if page.page in kept))


def _recognised(workspace: Workspace, raw: Mapping[str, Raw], notices: list[str]) -> dict[str, Path]:
    """The scans with their text recognised; of one where that fails there is a notice."""
    made, language = dict[str, Path](), workspace.experiment.corpus.language
    for name, one in raw.items():
        blank = sum(page.error is None and not (page.text or "").strip() for page in one.pages)
        if one.pages and blank > MOSTLY_WITHOUT_TEXT * len(one.pages):
            timeout_s = SECONDS_TO_OPEN + SECONDS_PER_PAGE * one.probe.pages
            try:
                made[name] = with_text(workspace.corpus / name, workspace.recognised, language, timeout_s)
            except OSError as error:
                notices.append(f"{name}: its text is not recognised ({error})")
    return made


def _read_pdfs(
    workspace: Workspace,
    pool: PdfPool,
    paths: Mapping[str, Path],
    excluded: ExcludedPages,
    progress: Report | None,
) -> tuple[dict[str, Raw], dict[str, ReaderTaken]]:
    """The pages of each PDF that are not excluded, and with "auto" by whom each that can be opened was read."""
    auto, language = workspace.experiment.ingest.reader == "auto", workspace.experiment.corpus.language
    files = list(paths.values())
    opened = open_documents(pool, files) if auto else [Opened(probe, pool.reader) for probe in pool.probe(files)]
    probes = dict(zip(paths, opened, strict=True))
    kept = {name: excluded.kept(name, one.probe.pages) for name, one in probes.items() if one.readable}
    wanted = [(paths[name], numbers) for name, numbers in kept.items()]
    if auto:
        readings = read_documents(pool, [one for one in opened if one.readable], wanted, language, progress)
    else:
        readings = [Reading(tuple(pages), pool.reader, "as set") for pages in pool.read(wanted, progress)]
    by_name = dict(zip(kept, readings, strict=True))
    pages = {name: reading.pages for name, reading in by_name.items()}
    raw = {name: Raw(name, "", one.probe, pages.get(name, ())) for name, one in probes.items()}
    taken = {
        name: ReaderTaken(
            doc=name,
            reader=reading.reader,
            why=reading.why,
            n_pages=len(reading.pages),
            n_other=reading.n_other,
            n_unreadable=sum(page.error is not None for page in reading.pages),
        )
        for name, reading in by_name.items()
    }
    return raw, taken if auto else {}


def ingest(workspace: Workspace, progress: Report | None = None, embed: Embed | None = None) -> StageOutcome:
    """Write `pages.jsonl`, `sections.jsonl`, `corpus.jsonl`, `unreadable.jsonl`, `suspicious-pages.jsonl`, and with
    "auto" `readers.jsonl`.

    In `corpus.jsonl` the passages of [ingest] stand first, as they are without any [[chunking]], then those of each
    chunking, and last the sections, where some chunking returns them. `embed` is needed by semantic chunkings.

    `progress` is called with (pages read, pages in all). A PDF that cannot be read, or has no text, is recorded and
    said, and the others go on: the exit status is then LEFT_OUT. Raises InputError for no PDFs, none that can be read,
    two whose ids would be the same, exclude_pages that do not fit the documents, and a callable of a chunking that
    fails.
    """
    read = Read((), ()) if workspace.experiment.ingest.ready else read_raw(workspace, progress)
    documents = _cut(workspace, read)
    if not any(document.pages for document in documents):
        first = "; ".join(f"{document.doc} {document.error}" for document in documents[:3])
        what = "PDF" if all(kind_of(document.doc) == PDF for document in documents) else "document"
        none = f"none of the {len(documents)} {what}s can" if len(documents) > 1 else f"the only {what} cannot"
        raise InputError(plain(f"{none} be used: {first}"), file=workspace.corpus)
    documents = _chunk_here(workspace, documents, embed)
    names = [*(chunking.name for chunking in workspace.experiment.chunkings), SECTIONS]
    passages = [passage for document in documents for passage in document.passages]
    passages += [one for name in names for document in documents for one in document.chunked.get(name, ())]
    pages = [page for document in documents for page in document.pages]
    write_records(workspace.pages, pages)
    write_records(workspace.sections, [section for document in documents for section in document.sections])
    write_records(workspace.passages, passages)
    failed = [Unreadable(doc=d.doc, error=d.error, pages=d.unreadable) for d in documents if d.error]
    write_records(workspace.unreadable, failed)
    write_records(workspace.suspicious_pages, suspicious_pages(pages))
    if workspace.experiment.ingest.reader == "auto":
        write_records(workspace.readers, read.taken)
    notices = [plain(f"{bad.doc}: {bad.error}") for bad in failed]
    for one in read.taken:
        if one.why not in (SOUND, AGREE):
            other = "pypdf" if one.reader == "pdfium" else "pdfium"
            some = f", {one.n_other} of {one.n_pages} pages with {other}" if one.n_other else ""
            notices.append(plain(f"{one.doc}: read with {one.reader}{some}: {one.why}"))
    notices += [plain(f"{document.doc}: {document.hint}") for document in documents if document.hint]
    notices += [plain(notice) for notice in read.notices]
    return StageOutcome(tuple(notices), LEFT_OUT if failed else 0, len(passages), len(failed))


def _cut(workspace: Workspace, read: Read) -> list[Document]:
    """What became of each document."""
    settings, run = workspace.experiment.ingest, workspace.experiment.run
    if settings.ready:
        document_files(workspace)
        return ready_documents(workspace.corpus / READY, settings, workspace.experiment.chunkings)
    unnamed = {name: Document(storable(name), error=NOT_UTF8) for name in read.names if storable(name) != name}
    identifiers = document_ids(read.names)
    raw = [replace(one, identifier=identifiers[one.doc]) for one in read.raw]
    cut = cut_documents(raw, settings, Cores(run.backend, run.scheduler), workspace.experiment.chunkings)
    documents = unnamed | {one.doc: document for one, document in zip(raw, cut, strict=True)}
    return [documents[name] for name in read.names]


def _chunk_here(workspace: Workspace, documents: Sequence[Document], embed: Embed | None) -> list[Document]:
    """The documents with their passages by the chunkings that other processes cannot make."""
    chunkings = [one for one in workspace.experiment.chunkings if one.by in HERE_ALONE]
    if not chunkings:
        return list(documents)
    settings = workspace.corpus / "experiment.toml"
    with importable(workspace.corpus):
        named = [(one.name, one.callable) for one in chunkings if one.callable]
        means = Means(embed, {name: load_own_cut(name, cut, workspace.corpus, settings) for name, cut in named})
        return [chunk_further(document, chunkings, means) if document.pages else document for document in documents]
