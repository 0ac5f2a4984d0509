"""The documents of the folders that are looked at: their texts, their files, pictures of their pages."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from ragassay.digests import digest_file
from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.synth.documents.doc_ids import find_documents

from .pictures import Picture, Pictures
from .texts import DocumentPages, Texts


class Library:
    """What there is of each document. Only names that are in the corpus folder lead to a file."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pictures = Pictures()
        self._texts: dict[Path, Texts] = {}
        self._digests: dict[tuple[Path, int, int], str] = {}

    def close(self) -> None:
        """End the process that draws."""
        self._pictures.close()

    def document(self, workspace: Workspace, doc: str) -> DocumentPages | None:
        """The text as it was read; None for a document of which there is none. Raises InputError."""
        with self._lock:
            texts = self._texts.setdefault(workspace.pages, Texts(workspace.pages))
        return texts.document(doc)

    def pdf(self, workspace: Workspace, doc: str) -> Path | None:
        """The file of that name in the corpus folder, where it is a PDF."""
        try:
            there = doc in find_documents(workspace.corpus, workspace.results)
        except (InputError, OSError):
            return None
        return workspace.corpus / doc if there and doc.lower().endswith(".pdf") else None

    def picture(self, workspace: Workspace, doc: str, page: int) -> Picture | None:
        """A page (from 1) as it looks; None where there is no such PDF."""
        path = self.pdf(workspace, doc)
        return None if path is None else self._pictures.picture(path, page, workspace.workbench / "pages")

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
