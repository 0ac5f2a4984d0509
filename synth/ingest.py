"""The first stage: the PDFs of a corpus folder become pages, sections and passages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ragassay.cores import Cores
from ragassay.errors import LEFT_OUT, InputError
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import write_records
from ragassay.records import Record
from ragassay.text import plain

from .documents.cutting import Document, Raw, cut_documents
from .documents.doc_ids import document_ids, find_documents
from .documents.page_ranges import ExcludedPages
from .pdf.pool import PdfPool

NOT_UTF8 = "its name is not UTF-8; rename it"


class Unreadable(Record):
    """A line of `unreadable.jsonl`: a PDF of which something, or everything, could not be read, and why."""

    doc: str
    error: str


def ingest(workspace: Workspace, progress: Callable[[int, int], None] | None = None) -> StageOutcome:
    """Write `pages.jsonl`, `sections.jsonl`, `corpus.jsonl` and `unreadable.jsonl`.

    `progress` is called with (pages read, pages in all). A PDF that cannot be read, or has no text, is recorded and
    said, and the others go on: the exit status is then LEFT_OUT. Raises InputError for no PDFs, none that can be read,
    two whose ids would be the same, and exclude_pages that do not fit the documents.
    """
    names = find_documents(workspace.corpus, workspace.results)
    document_ids(names)  # says two that would be the same before anything is read
    excluded = ExcludedPages(workspace.experiment.corpus.exclude_pages, workspace.corpus / "experiment.toml")
    excluded.check_documents(names)
    documents = _read(workspace, names, excluded, progress)
    if not any(document.pages for document in documents):
        raise _none_readable(workspace.corpus, documents)
    n_passages = _write(workspace, documents)
    failed = [Unreadable(doc=d.doc, error=d.error) for d in documents if d.error]
    write_records(workspace.unreadable, failed)
    notices = [plain(f"{bad.doc}: {bad.error}") for bad in failed]
    notices += [plain(f"{document.doc}: {document.hint}") for document in documents if document.hint]
    return StageOutcome(tuple(notices), LEFT_OUT if failed else 0, n_passages, len(failed))


def _read(
    workspace: Workspace,
    names: Sequence[str],
    excluded: ExcludedPages,
    progress: Callable[[int, int], None] | None,
) -> list[Document]:
    settings, run = workspace.experiment.ingest, workspace.experiment.run
    cores, identifiers = Cores(run.backend, run.scheduler), document_ids(names)
    documents = {name: Document(_storable(name), error=NOT_UTF8) for name in names if _storable(name) != name}
    good = [name for name in names if name not in documents]
    with PdfPool(settings.reader, cores=cores) as pool:
        probes = dict(zip(good, pool.probe([workspace.corpus / name for name in good]), strict=True))
        kept = {name: excluded.kept(name, probe.pages) for name, probe in probes.items() if not probe.error}
        pages = pool.read([(workspace.corpus / name, numbers) for name, numbers in kept.items()], progress)
    read = dict(zip(kept, pages, strict=True))
    raw = [Raw(name, identifiers[name], probe, tuple(read.get(name, ()))) for name, probe in probes.items()]
    documents |= zip(probes, cut_documents(raw, settings, cores), strict=True)
    return [documents[name] for name in names]


def _storable(name: str) -> str:
    """The file's name as text; what is not UTF-8 in it becomes a replacement character."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _none_readable(corpus: Path, documents: Sequence[Document]) -> InputError:
    first = "; ".join(f"{document.doc} {document.error}" for document in documents[:3])
    problem = f"none of the {len(documents)} PDFs can be used" if len(documents) > 1 else "the only PDF cannot be used"
    return InputError(plain(f"{problem}: {first}"), file=corpus)


def _write(workspace: Workspace, documents: Sequence[Document]) -> int:
    """Write pages, sections and passages; the number of passages."""
    passages = [passage for document in documents for passage in document.passages]
    write_records(workspace.pages, [page for document in documents for page in document.pages])
    write_records(workspace.sections, [section for document in documents for section in document.sections])
    write_records(workspace.passages, passages)
    return len(passages)
