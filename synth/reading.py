"""The documents of an experiment as they are read: PDFs by their reader, others converted, or those of a loader."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ragassay.cores import Cores
from ragassay.experiment.workspace import Workspace
from ragassay.records import Record

from .documents.cutting import MOSTLY_WITHOUT_TEXT, Raw
from .documents.doc_ids import document_files, document_ids, other_documents
from .documents.loaded import load_documents
from .documents.page_ranges import ExcludedPages
from .formats.kinds import PDF, kind_of
from .pdf.choice import Opened, Reading, open_documents, read_documents
from .pdf.ocr import check_ocr, with_text
from .pdf.pool import SECONDS_PER_PAGE, SECONDS_TO_OPEN, PdfPool
from .pdf.readers import ReaderName

AS_SET = "as set"

Report = Callable[[int, int], None]


class ReaderTaken(Record):
    """A line of `readers.jsonl`: what a PDF was read with, and why; `n_other` of `n_pages` are the other reader's."""

    doc: str
    reader: ReaderName
    why: str
    n_pages: int
    n_other: int
    n_unreadable: int


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
        return _loaded(load_documents(experiment.ingest.loader, workspace.corpus), excluded)
    names = document_files(workspace)
    excluded.check_documents(names)
    if experiment.ingest.ocr:
        check_ocr(settings)
    return _from_files(workspace, names, excluded, progress)


def storable(name: str) -> str:
    """The file's name as text; what is not UTF-8 in it becomes a replacement character."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _loaded(raw: Sequence[Raw], excluded: ExcludedPages) -> Read:
    names = tuple(one.doc for one in raw)
    document_ids(names)
    excluded.check_documents(names)
    return Read(names, tuple(_kept(one, excluded) for one in raw))


def _kept(raw: Raw, excluded: ExcludedPages) -> Raw:
    """Without the excluded pages."""
    if raw.probe.error:
        return raw
    kept = set(excluded.kept(raw.doc, raw.probe.pages))
    return replace(raw, pages=tuple(page for page in raw.pages if page.page in kept))


def _from_files(workspace: Workspace, names: Sequence[str], excluded: ExcludedPages, progress: Report | None) -> Read:
    settings, run = workspace.experiment.ingest, workspace.experiment.run
    good = [name for name in names if storable(name) == name]
    paths = {name: workspace.corpus / name for name in good if kind_of(name) == PDF}
    others = [name for name in good if name not in paths]
    notices = [notice] if (notice := other_documents(workspace)) else []
    cores = Cores(run.backend, run.scheduler)
    with PdfPool("pdfium" if settings.reader == "auto" else settings.reader, cores=cores) as pool:
        raw, taken = _read_pdfs(workspace, pool, paths, excluded, progress)
        if settings.ocr and (scans := _recognised(workspace, raw, notices)):
            again, taken_again = _read_pdfs(workspace, pool, scans, excluded, progress)
            raw, taken = raw | again, taken | taken_again
        wholes = pool.convert([(workspace.corpus / name, kind_of(name) or "") for name in others])
    for name, whole in zip(others, wholes, strict=True):
        raw[name] = _kept(Raw(name, "", whole.probe, whole.pages, whole.printed, is_pdf=False), excluded)
    return Read(tuple(names), tuple(raw[name] for name in good), tuple(taken.values()), tuple(notices))


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
        readings = [Reading(tuple(pages), pool.reader, AS_SET) for pages in pool.read(wanted, progress)]
    by_name = dict(zip(kept, readings, strict=True))
    raw = {
        name: Raw(name, "", one.probe, by_name[name].pages if name in by_name else ()) for name, one in probes.items()
    }
    return raw, {name: _taken(name, reading) for name, reading in by_name.items()} if auto else {}


def _taken(name: str, reading: Reading) -> ReaderTaken:
    return ReaderTaken(
        doc=name,
        reader=reading.reader,
        why=reading.why,
        n_pages=len(reading.pages),
        n_other=reading.n_other,
        n_unreadable=sum(page.error is not None for page in reading.pages),
    )
