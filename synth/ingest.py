"""The first stage: the PDFs of a corpus folder become pages, sections and passages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ragassay.cores import Cores
from ragassay.errors import LEFT_OUT, InputError
from ragassay.experiment.own_code import importable
from ragassay.experiment.variant_settings import SECTIONS
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import write_records
from ragassay.records import Record
from ragassay.text import plain

from .documents.chunking.cut import HERE_ALONE, Embed, Means
from .documents.chunking.own import load_own_cut
from .documents.cutting import Document, Raw, chunk_further, cut_documents
from .documents.doc_ids import document_ids, find_documents
from .documents.page_ranges import ExcludedPages
from .pdf.choice import AGREE, SOUND, Opened, Reading, open_documents, read_documents
from .pdf.pool import PdfPool
from .pdf.readers import ReaderName

AS_SET = "as set"
NOT_UTF8 = "its name is not UTF-8; rename it"


class Unreadable(Record):
    """A line of `unreadable.jsonl`: a PDF of which something, or everything, could not be read, and why.

    `pages` are the pages (from 1) that could not be read, and are left out; none where the document cannot be opened.
    """

    doc: str
    error: str
    pages: tuple[int, ...] = ()


class ReaderTaken(Record):
    """A line of `readers.jsonl`: what a PDF was read with, and why; `n_other` of `n_pages` are the other reader's."""

    doc: str
    reader: ReaderName
    why: str
    n_pages: int
    n_other: int
    n_unreadable: int


def ingest(
    workspace: Workspace, progress: Callable[[int, int], None] | None = None, embed: Embed | None = None
) -> StageOutcome:
    """Write `pages.jsonl`, `sections.jsonl`, `corpus.jsonl`, `unreadable.jsonl`, and with "auto" `readers.jsonl`.

    In `corpus.jsonl` the passages of [ingest] stand first, as they are without any [[chunking]], then those of each
    chunking, and last the sections, where some chunking returns them. `embed` is needed by semantic chunkings.

    `progress` is called with (pages read, pages in all). A PDF that cannot be read, or has no text, is recorded and
    said, and the others go on: the exit status is then LEFT_OUT. Raises InputError for no PDFs, none that can be read,
    two whose ids would be the same, exclude_pages that do not fit the documents, and a callable of a chunking that
    fails.
    """
    names = find_documents(workspace.corpus, workspace.results)
    document_ids(names)  # says two that would be the same before anything is read
    excluded = ExcludedPages(workspace.experiment.corpus.exclude_pages, workspace.corpus / "experiment.toml")
    excluded.check_documents(names)
    documents, taken = _read(workspace, names, excluded, progress)
    if not any(document.pages for document in documents):
        raise _none_readable(workspace.corpus, documents)
    n_passages = _write(workspace, _chunk_here(workspace, documents, embed))
    failed = [Unreadable(doc=d.doc, error=d.error, pages=d.unreadable) for d in documents if d.error]
    write_records(workspace.unreadable, failed)
    if workspace.experiment.ingest.reader == "auto":
        write_records(workspace.readers, taken)
    notices = [plain(f"{bad.doc}: {bad.error}") for bad in failed]
    notices += [plain(_said(one)) for one in taken if one.why not in (SOUND, AGREE)]
    notices += [plain(f"{document.doc}: {document.hint}") for document in documents if document.hint]
    return StageOutcome(tuple(notices), LEFT_OUT if failed else 0, n_passages, len(failed))


def _read(
    workspace: Workspace,
    names: Sequence[str],
    excluded: ExcludedPages,
    progress: Callable[[int, int], None] | None,
) -> tuple[list[Document], list[ReaderTaken]]:
    """What became of each document; with "auto", also by whom each that can be opened was read."""
    settings, run = workspace.experiment.ingest, workspace.experiment.run
    cores, identifiers = Cores(run.backend, run.scheduler), document_ids(names)
    documents = {name: Document(_storable(name), error=NOT_UTF8) for name in names if _storable(name) != name}
    good = [name for name in names if name not in documents]
    with PdfPool("pdfium" if settings.reader == "auto" else settings.reader, cores=cores) as pool:
        raw, taken = _read_raw(workspace, pool, good, excluded, progress)
    raw = [replace(one, identifier=identifiers[one.doc]) for one in raw]
    documents |= zip(good, cut_documents(raw, settings, cores, workspace.experiment.chunkings), strict=True)
    return [documents[name] for name in names], taken


def _read_raw(
    workspace: Workspace,
    pool: PdfPool,
    names: Sequence[str],
    excluded: ExcludedPages,
    progress: Callable[[int, int], None] | None,
) -> tuple[list[Raw], list[ReaderTaken]]:
    """The pages of each document that are not excluded, as they were read."""
    auto, language = workspace.experiment.ingest.reader == "auto", workspace.experiment.corpus.language
    paths = [workspace.corpus / name for name in names]
    opened = open_documents(pool, paths) if auto else [Opened(probe, pool.reader) for probe in pool.probe(paths)]
    kept = {name: excluded.kept(name, one.probe.pages) for name, one in zip(names, opened, strict=True) if one.readable}
    wanted = [(workspace.corpus / name, numbers) for name, numbers in kept.items()]
    if auto:
        readings = read_documents(pool, [one for one in opened if one.readable], wanted, language, progress)
    else:
        readings = [Reading(tuple(pages), pool.reader, AS_SET) for pages in pool.read(wanted, progress)]
    by_name = dict(zip(kept, readings, strict=True))
    raw = [
        Raw(name, "", one.probe, by_name[name].pages if name in by_name else ())
        for name, one in zip(names, opened, strict=True)
    ]
    return raw, [_taken(name, reading) for name, reading in by_name.items()] if auto else []


def _taken(name: str, reading: Reading) -> ReaderTaken:
    return ReaderTaken(
        doc=name,
        reader=reading.reader,
        why=reading.why,
        n_pages=len(reading.pages),
        n_other=reading.n_other,
        n_unreadable=sum(page.error is not None for page in reading.pages),
    )


def _said(taken: ReaderTaken) -> str:
    other = "pypdf" if taken.reader == "pdfium" else "pdfium"
    some = f", {taken.n_other} of {taken.n_pages} pages with {other}" if taken.n_other else ""
    return f"{taken.doc}: read with {taken.reader}{some}: {taken.why}"


def _storable(name: str) -> str:
    """The file's name as text; what is not UTF-8 in it becomes a replacement character."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _none_readable(corpus: Path, documents: Sequence[Document]) -> InputError:
    first = "; ".join(f"{document.doc} {document.error}" for document in documents[:3])
    problem = f"none of the {len(documents)} PDFs can be used" if len(documents) > 1 else "the only PDF cannot be used"
    return InputError(plain(f"{problem}: {first}"), file=corpus)


def _chunk_here(workspace: Workspace, documents: Sequence[Document], embed: Embed | None) -> list[Document]:
    """The documents with their passages by the chunkings that other processes cannot make."""
    chunkings = [one for one in workspace.experiment.chunkings if one.by in HERE_ALONE]
    if not chunkings:
        return list(documents)
    identifiers = document_ids([document.doc for document in documents if document.pages])
    settings = workspace.corpus / "experiment.toml"
    with importable(workspace.corpus):
        own = {
            one.name: load_own_cut(one.name, one.callable, workspace.corpus, settings)
            for one in chunkings
            if one.callable
        }
        means = Means(embed, own)
        return [
            chunk_further(document, identifiers[document.doc], chunkings, means) if document.pages else document
            for document in documents
        ]


def _write(workspace: Workspace, documents: Sequence[Document]) -> int:
    """Write pages, sections and passages; the number of passages."""
    names = [*(chunking.name for chunking in workspace.experiment.chunkings), SECTIONS]
    passages = [passage for document in documents for passage in document.passages]
    passages += [one for name in names for document in documents for one in document.chunked.get(name, ())]
    write_records(workspace.pages, [page for document in documents for page in document.pages])
    write_records(workspace.sections, [section for document in documents for section in document.sections])
    write_records(workspace.passages, passages)
    return len(passages)
