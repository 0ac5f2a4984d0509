"""The first stage: the documents of a corpus folder become pages, sections and passages."""

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
from .documents.cutting import Document, chunk_further, cut_documents
from .documents.doc_ids import READY, document_files, document_ids
from .documents.ready import ready_documents
from .documents.suspicious import suspicious_pages
from .formats.kinds import PDF, kind_of
from .pdf.choice import AGREE, SOUND
from .reading import Read, ReaderTaken, read_raw, storable

NOT_UTF8 = "its name is not UTF-8; rename it"


class Unreadable(Record):
    """A line of `unreadable.jsonl`: a document of which something, or everything, could not be read, and why.

    `pages` are the pages (from 1) that could not be read, and are left out; none where the document cannot be opened.
    """

    doc: str
    error: str
    pages: tuple[int, ...] = ()


def ingest(
    workspace: Workspace, progress: Callable[[int, int], None] | None = None, embed: Embed | None = None
) -> StageOutcome:
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
        raise _none_readable(workspace.corpus, documents)
    n_passages = _write(workspace, _chunk_here(workspace, documents, embed))
    failed = [Unreadable(doc=d.doc, error=d.error, pages=d.unreadable) for d in documents if d.error]
    write_records(workspace.unreadable, failed)
    write_records(workspace.suspicious_pages, suspicious_pages([page for d in documents for page in d.pages]))
    if workspace.experiment.ingest.reader == "auto":
        write_records(workspace.readers, read.taken)
    notices = [plain(f"{bad.doc}: {bad.error}") for bad in failed]
    notices += [plain(_said(one)) for one in read.taken if one.why not in (SOUND, AGREE)]
    notices += [plain(f"{document.doc}: {document.hint}") for document in documents if document.hint]
    notices += [plain(notice) for notice in read.notices]
    return StageOutcome(tuple(notices), LEFT_OUT if failed else 0, n_passages, len(failed))


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


def _said(taken: ReaderTaken) -> str:
    other = "pypdf" if taken.reader == "pdfium" else "pdfium"
    some = f", {taken.n_other} of {taken.n_pages} pages with {other}" if taken.n_other else ""
    return f"{taken.doc}: read with {taken.reader}{some}: {taken.why}"


def _none_readable(corpus: Path, documents: Sequence[Document]) -> InputError:
    first = "; ".join(f"{document.doc} {document.error}" for document in documents[:3])
    what = "PDF" if all(kind_of(document.doc) == PDF for document in documents) else "document"
    problem = f"none of the {len(documents)} {what}s can be used"
    problem = problem if len(documents) > 1 else f"the only {what} cannot be used"
    return InputError(plain(f"{problem}: {first}"), file=corpus)


def _chunk_here(workspace: Workspace, documents: Sequence[Document], embed: Embed | None) -> list[Document]:
    """The documents with their passages by the chunkings that other processes cannot make."""
    chunkings = [one for one in workspace.experiment.chunkings if one.by in HERE_ALONE]
    if not chunkings:
        return list(documents)
    settings = workspace.corpus / "experiment.toml"
    with importable(workspace.corpus):
        own = {
            one.name: load_own_cut(one.name, one.callable, workspace.corpus, settings)
            for one in chunkings
            if one.callable
        }
        means = Means(embed, own)
        return [chunk_further(document, chunkings, means) if document.pages else document for document in documents]


def _write(workspace: Workspace, documents: Sequence[Document]) -> int:
    """Write pages, sections and passages; the number of passages."""
    names = [*(chunking.name for chunking in workspace.experiment.chunkings), SECTIONS]
    passages = [passage for document in documents for passage in document.passages]
    passages += [one for name in names for document in documents for one in document.chunked.get(name, ())]
    write_records(workspace.pages, [page for document in documents for page in document.pages])
    write_records(workspace.sections, [section for document in documents for section in document.sections])
    write_records(workspace.passages, passages)
    return len(passages)
