"""The documents of an experiment: found in its corpus folder, loaded by the user's code, or passages that are ready.

With them the ids that their sections and passages begin with, and the pages that are left out.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ragassay.errors import InputError
from ragassay.experiment.plugins import import_own, importable, said
from ragassay.experiment.tables import IngestSettings
from ragassay.experiment.variant_settings import Chunking
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_objects, record_of
from ragassay.records import Passage
from ragassay.text import listed, plain

from ..formats import PDF, SETTINGS_TOO, check_packages, kind_of, paged

if TYPE_CHECKING:
    from .cutting import Document, Raw

READY = "corpus.jsonl"
"""Passages that are ready, in the corpus folder."""

NOT_DOCUMENTS = frozenset({"replies", "embeddings"})
"""Folders directly below a corpus folder that hold a recorded run."""


def document_files(workspace: Workspace) -> list[str]:
    """The documents that an experiment reads from its corpus folder, as of `find_documents`; none with a loader.

    Raises InputError, too, for ids that would be the same and packages that are not installed.
    """
    settings = workspace.experiment.ingest
    if settings.loader:
        return []
    if settings.ready:
        if not (workspace.corpus / READY).is_file():
            remedy = "put passages in BEIR's layout there, or set kinds under [ingest]"
            raise InputError("there is no such file", file=workspace.corpus / READY, remedy=remedy)
        return [READY]
    passed_over: set[str] = set()
    if SETTINGS_TOO & set(settings.kinds):
        own = (workspace.expert_questions, workspace.own_queries, workspace.own_labels)
        named = _texts(workspace.experiment.model_dump(mode="json", warnings=False))
        passed_over = {path.name for path in own}.union(named)
    names = find_documents(workspace.corpus, workspace.results, settings.kinds, passed_over)
    check_packages({kind_of(name) or PDF for name in names})
    document_ids(names)
    return names


def _texts(value: object) -> Iterator[str]:
    """Every text in the settings, which name files of the corpus folder that are no documents."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def find_documents(
    corpus: Path,
    results: Path | None = None,
    kinds: Collection[str] = (PDF,),
    passed_over: Collection[str] = frozenset(),
) -> list[str]:
    """The paths, relative to `corpus` with "/" between folders, of every document of these kinds in it, sorted.

    Hidden files and folders, a recorded run, the `results` folder and the files `passed_over` are none of them. Raises
    InputError for no document.
    """
    if not corpus.is_dir():
        raise InputError("there is no such corpus folder", file=corpus, remedy="`ragassay new` makes one")
    files = [name for name in sorted(_walk(corpus, results)) if name not in passed_over]
    docs = [name for name in files if kind_of(name) in kinds]
    if docs:
        return docs
    others = {kind for name in files if (kind := kind_of(name))}
    others |= {"passages"} if not others and (corpus / READY).is_file() else set()
    what = "PDFs" if set(kinds) == {PDF} else f"documents of the kind {listed(sorted(kinds))}"
    remedy = "put *.pdf files into it" if PDF in kinds else "put some into it"
    if others:
        there = ", ".join(f'"{kind}"' for kind in sorted(others))
        remedy = f"what is there is read with kinds = [{there}] under [ingest] in experiment.toml"
    raise InputError(f"there are no {what} in this folder", file=corpus, remedy=remedy)


def other_documents(workspace: Workspace) -> str | None:
    """A sentence on documents in the corpus folder that are of no kind that is read; None where there are none."""
    settings = workspace.experiment.ingest
    if settings.loader or settings.ready:
        return None
    found = list(_walk(workspace.corpus, workspace.results))
    kinds = {kind for name in found if (kind := kind_of(name))} - set(settings.kinds) - SETTINGS_TOO
    if not kinds:
        return None
    n = sum(kind_of(name) in kinds for name in found)
    return f"{n} documents are not read, since kinds under [ingest] does not name {listed(sorted(kinds))}"


def _walk(corpus: Path, results: Path | None) -> Iterator[str]:
    def say(error: OSError) -> NoReturn:
        """A folder that may not be read is not passed over: its documents would be missing without a word."""
        raise error

    for folder, folders, names in os.walk(corpus, onerror=say):
        here = Path(folder)
        passed_over = NOT_DOCUMENTS if here == corpus else frozenset()
        folders[:] = [f for f in folders if not f.startswith(".") and f not in passed_over and here / f != results]
        for name in names:
            if kind_of(name) and not name.startswith("."):
                yield (here / name).relative_to(corpus).as_posix()


def document_ids(docs: Sequence[str]) -> dict[str, str]:
    """Each document's id, matching [A-Za-z0-9._-]+. Raises InputError where two documents would have the same."""
    owners: dict[str, str] = {}
    for doc in docs:
        other = owners.setdefault(document_id(doc), doc)
        if other != doc:
            names = plain(f"'{other}' and '{doc}'")
            raise InputError(f"{names} would both have the id '{document_id(doc)}'", remedy="rename one of them")
    return {doc: identifier for identifier, doc in owners.items()}


def document_id(doc: str) -> str:
    """The path without ".pdf", what an id cannot hold made "-"; a digest stands for what was not ASCII."""
    stem = re.sub(r"\.pdf$", "", doc, flags=re.IGNORECASE)
    slug = re.sub(r"-{2,}", "-", re.sub(r"[^A-Za-z0-9._-]", "-", stem)).strip("-.") or "doc"
    if stem.isascii():
        return slug
    return f"{slug}-{hashlib.sha256(doc.encode('utf-8', 'surrogateescape')).hexdigest()[:6]}"


def load_documents(name: str, folder: Path) -> list[Raw]:
    """The documents that `module:name` gives: a function of the corpus folder, or a loader, or its class.

    What it gives is an iterable of Documents (`page_content`, `metadata`), or has `lazy_load`. Those of one
    `metadata["source"]` are one document, in their order; where each says its `page` (from 0, ascending), they are its
    pages. Raises InputError where it fails, or gives something else or nothing. The user's code runs here.
    """
    settings = folder / "experiment.toml"
    with importable(folder):
        loader = import_own(name, folder, f"loader {name}", settings)
        try:
            loader = loader() if isinstance(loader, type) else loader
            found: Any = loader if hasattr(loader, "lazy_load") else loader(folder)
            given = list(found.lazy_load() if hasattr(found, "lazy_load") else found)
        except (Exception, SystemExit) as error:
            problem = f"the loader {name} fails ({said(error)})"
            remedy = "name a function of the corpus folder that gives Documents, or a loader with lazy_load"
            raise InputError(problem, file=settings, remedy=remedy) from error
    sources: dict[str, list[tuple[str, object]]] = {}
    for number, document in enumerate(given, 1):
        text, metadata = getattr(document, "page_content", None), getattr(document, "metadata", None)
        if not (isinstance(text, str) and isinstance(metadata, dict)):
            problem = f"the loader {name} gives as document {number} what has no page_content and metadata"
            raise InputError(problem, file=settings)
        own = sources.setdefault(_name(metadata.get("source"), folder, number), [])
        own.append((text, metadata.get("page")))
    if not sources:
        raise InputError(f"the loader {name} gives no documents", file=settings)
    return [_raw(doc, own) for doc, own in sources.items()]


def _name(source: object, folder: Path, number: int) -> str:
    """What the document is called: its path in the corpus folder, or its source as it is."""
    if not source:
        return f"document-{number}"
    path = Path(str(source))
    inside = path.is_absolute() and path.is_relative_to(folder.resolve())
    return plain(path.relative_to(folder.resolve()).as_posix() if inside else str(source))


def _raw(doc: str, texts: Sequence[tuple[str, Any]]) -> Raw:
    """texts: each with the place that the loader says it has."""
    from ..pdf.process import PageText, Probe
    from .cutting import Raw

    places = [place for _, place in texts if type(place) is int and place >= 0]
    if len(places) == len(texts) and sorted(set(places)) == places:
        pages = [PageText(place + 1, text) for text, place in texts]
    else:
        whole = paged("\n\n".join(text for text, _ in texts))
        pages = [PageText(number, text) for number, text in enumerate(whole.pages, 1)]
    return Raw(doc, "", Probe(pages[-1].page), tuple(pages), printed=False, is_pdf=False)


_RANGE = re.compile(r"(\d+)(?:\s*([-–])\s*(\d*))?")
_HOW = 'write ranges such as "1-9, 55-75, 300-"'


class ExcludedPages:
    """The `corpus.exclude_pages` table of one experiment file. Complaints name the file and the key path."""

    def __init__(self, table: Mapping[str, str], experiment_file: Path) -> None:
        self._file = experiment_file
        self._table = {unicodedata.normalize("NFC", doc): ranges for doc, ranges in table.items()}

    def check_documents(self, docs: Iterable[str]) -> None:
        """Raises InputError where the table names a document that is not there."""
        known = [unicodedata.normalize("NFC", doc) for doc in docs]
        for doc in self._table:
            if doc not in known:
                near = difflib.get_close_matches(doc, known, 3, 0.3) or known[:3]
                names = ", ".join(f'"{name}"' for name in near)
                raise self._complaint(doc, "there is no such PDF in the corpus folder", f"there are {names}")

    def kept(self, doc: str, n_pages: int) -> list[int]:
        """The pages of `doc` (1-based, ascending) that are not excluded.

        Raises InputError for what is not a range, a page beyond the end, or when no page is left.
        """
        name = unicodedata.normalize("NFC", doc)
        excluded: set[int] = set()
        for part in filter(None, (part.strip() for part in self._table.get(name, "").split(","))):
            match = _RANGE.fullmatch(part)
            if not match:
                raise self._complaint(name, f"'{part}' is not a page or a range of pages", _HOW)
            first = int(match[1])
            last = int(match[3] or n_pages) if match[2] else first
            if first < 1 or (last < first and match[3]):
                raise self._complaint(name, f"'{part}' is not a range of pages counted from 1", _HOW)
            if max(first, last) > n_pages:
                beyond = f"'{part}' goes beyond the end: the document has {n_pages} pages"
                raise self._complaint(name, beyond, None)
            excluded.update(range(first, last + 1))
        kept = [page for page in range(1, n_pages + 1) if page not in excluded]
        if n_pages and not kept:
            remedy = "leave some, or move the PDF out of the folder"
            raise self._complaint(name, f"excludes all {n_pages} pages", remedy)
        return kept

    def _complaint(self, doc: str, problem: str, remedy: str | None) -> InputError:
        """With the first line of the file on which the document's name stands as a quoted key."""
        try:
            lines = self._file.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            lines = []
        line = next((n for n, line in enumerate(lines, 1) if f'"{doc}"' in line or f"'{doc}'" in line), None)
        text = plain(f'corpus.exclude_pages."{doc}": {problem}')
        return InputError(text, file=self._file, line=line, remedy=plain(remedy) if remedy else None)


NAMELESS = "corpus"
"""The document of passages with neither `metadata.doc` nor a title."""


def ready_documents(path: Path, settings: IngestSettings, chunkings: Sequence[Chunking]) -> list[Document]:
    """The documents that the passages make: those of one `metadata.doc`, or else of one title, in the file's order.

    A document's text is its passages' texts, a line break between them, and each passage is a page of it. Ids, titles
    and texts are as they stand; `metadata` gets doc, first_page, last_page, start and end. Raises InputError, with the
    line, for what is no passage, one without text, an id that stands twice or holds white space; and for none.
    """
    from .cutting import divided, where
    from .text import DocumentText

    by_doc: dict[str, list[Passage]] = {}
    for passage in _passages(path):
        doc = passage.metadata.get("doc")
        named = doc if isinstance(doc, str) and doc.strip() else passage.title.strip() or NAMELESS
        by_doc.setdefault(named, []).append(passage)
    if not by_doc:
        raise InputError("holds no passages", file=path, remedy="write one a line: _id, title, text")
    taken: set[str] = set()
    documents = []
    for doc, passages in by_doc.items():
        base = document_id(doc)  # those that would be the same are numbered, as titles are no names of files
        identifier = next(name for n in count(1) if (name := base if n == 1 else f"{base}.{n}") not in taken)
        taken.add(identifier)
        text = DocumentText(doc, tuple((number, passage.text) for number, passage in enumerate(passages, 1)))
        placed = []
        for number, passage in enumerate(passages, 1):
            start = text.page_start(number)
            place = where(text, start, start + len(passage.text))
            placed.append(passage.model_copy(update={"metadata": {**passage.metadata, **place}}))
        of_any_length = settings.model_copy(update={"section_pages": len(passages) + 1})  # a passage is no page
        documents.append(divided(text, identifier, placed, of_any_length, chunkings))
    return documents


def _passages(path: Path) -> Iterable[Passage]:
    lines: dict[str, int] = {}
    for number, value in read_objects(path):
        passage = record_of(value, Passage, path, number)
        if re.search(r"\s", passage.id):
            raise InputError("its _id holds white space", file=path, line=number, remedy="write _id without")
        if not passage.text.strip():
            raise InputError("the passage has no text", file=path, line=number, remedy="leave it out")
        if (before := lines.setdefault(passage.id, number)) != number:
            problem = f"the _id '{plain(passage.id)}' stands on line {before} already"
            raise InputError(problem, file=path, line=number, remedy="give each passage its own")
        yield passage
