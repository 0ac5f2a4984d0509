"""The documents of the folders that are looked at: their texts, their files, pictures of their pages."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path

from ragassay.digests import digest_file
from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.synth.documents.doc_ids import find_documents

from ..kept import Kept
from .pictures import Picture, Pictures
from .texts import DocumentPages, Texts


class Library:
    """What there is of each document. Only names that are in the corpus folder lead to a file."""

    def __init__(self, kept: Kept) -> None:
        self._lock, self._kept = threading.Lock(), kept
        self._pictures = Pictures()
        self._texts: dict[Path, Texts] = {}
        self._digests: dict[tuple[Path, int, int], str] = {}

    def close(self) -> None:
        """End the process that draws."""
        self._pictures.close()

    def document(self, workspace: Workspace, doc: str) -> DocumentPages | None:
        """The text as it was read; None for a document of which there is none. Raises InputError."""
        return self._of(workspace).document(doc)

    def has_page(self, workspace: Workspace, doc: object, page: object) -> bool:
        """Whether there is something to show of a page (from 1): its text, or its picture between pages with text."""
        if not isinstance(doc, str) or not isinstance(page, int):
            return False
        try:
            numbers = self._of(workspace).numbers(doc)
        except InputError:
            return False
        return page in numbers or (1 <= page <= max(numbers, default=0) and self.pdf(workspace, doc) is not None)

    def _of(self, workspace: Workspace) -> Texts:
        with self._lock:
            return self._texts.setdefault(workspace.pages, Texts(workspace.pages))

    def pdf(self, workspace: Workspace, doc: str) -> Path | None:
        """The file of that name in the corpus folder, where it is a PDF."""
        try:
            there = doc in find_documents(workspace.corpus, workspace.results)
        except (InputError, OSError):
            return None
        return workspace.corpus / doc if there and doc.lower().endswith(".pdf") else None

    def picture(self, workspace: Workspace, doc: str, page: int) -> Picture | None:
        """A page (from 1) as it looks; None where there is no such PDF."""
        path = self.pdf(workspace, doc) if workspace.results.is_dir() else None
        return None if path is None else self._pictures.picture(path, page, self._kept.folder(workspace) / "pages")

    def ahead(self, workspace: Workspace, doc: str, pages: Sequence[int]) -> None:
        """Have these pages drawn meanwhile, where there is such a PDF; never waits."""
        if workspace.results.is_dir() and (path := self.pdf(workspace, doc)) is not None:
            self._pictures.ahead(path, pages, self._kept.folder(workspace) / "pages")

    def changed(self, workspace: Workspace, doc: str) -> bool:
        """Whether the file is another than the one that was read; False where that is not known."""
        path, then = self.pdf(workspace, doc), _digest_then(workspace, doc)
        if path is None or then is None:
            return False
        try:
            return self._digest(path) != then
        except OSError:
            return True

    def _digest(self, path: Path) -> str:
        stat = path.stat()
        key = (path, stat.st_size, stat.st_mtime_ns)
        if key not in self._digests:
            self._digests[key] = digest_file(path)
        return self._digests[key]


def _digest_then(workspace: Workspace, doc: str) -> str | None:
    """What the file was when it was read, as the stage's manifest has it."""
    try:
        then = json.loads((workspace.manifests / "ingest.json").read_bytes())["inputs"][doc]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return then if isinstance(then, str) else None
