"""Pictures of PDF pages with their characters, drawn in a process that may die and kept, the oldest thrown away."""

from __future__ import annotations

import base64
import json
import os
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import digest_file, digest_json
from ragassay.synth.documents.doc_ids import find_documents
from ragassay.synth.pdf.process import MOST_MEMORY, PdfProcess, WorkerDied

from ..kept import Kept
from . import worker
from .place import Alignment
from .texts import DocumentPages, Texts

SECONDS = 20.0
"""A page may take to be drawn."""

AHEAD_SECONDS = 5.0
"""A page that nobody has asked for yet may take, and whoever asks for another may have to wait."""

MOST_BYTES = 200_000_000
"""What the pictures of one results folder may take on the disk."""

PAUSE_S = 0.02
_LAYOUT = 1


@dataclass(frozen=True)
class Picture:
    """A page as it is drawn: its PNG file, its size in pixels, PDFium's characters and their boxes in
    ten-thousandths; with `error` set it cannot be drawn and there is nothing else."""

    key: str
    png: Path | None = None
    width: int = 0
    height: int = 0
    text: str = ""
    boxes: tuple[tuple[int, int, int, int] | None, ...] = ()
    error: str | None = None

    def aligned(self, page: str) -> Alignment:
        """The page's text, as it was read, on this picture."""
        return Alignment(page, self.text, self.boxes)


class Pictures:
    """One process for all documents, started when first needed, and a thread that has pages drawn ahead."""

    def __init__(self) -> None:
        self._lock, self._ahead_lock = threading.Lock(), threading.Lock()
        self._process: PdfProcess | None = None
        self._failed: dict[str, str] = {}
        self._wanted: list[tuple[Path, int, Path]] = []
        self._ahead: threading.Thread | None = None
        self._closed = False

    def picture(self, document: Path, page: int, kept: Path) -> Picture:
        """The page (from 1) of the PDF, drawn or from the folder `kept`."""
        return self._picture(document, page, kept, SECONDS)

    def ahead(self, document: Path, pages: Sequence[int], kept: Path) -> None:
        """Have these pages drawn meanwhile; never waits. What was wanted before and is not drawn yet is forgotten."""
        with self._ahead_lock:
            self._wanted = [(document, page, kept) for page in pages]
            if self._wanted and self._ahead is None and not self._closed:
                self._ahead = threading.Thread(target=self._draw_ahead, name="draws pages ahead", daemon=True)
                self._ahead.start()

    def close(self) -> None:
        """End the process, and the thread."""
        self._closed = True
        if self._process is not None:
            self._process.kill()
        with self._lock:
            if self._process is not None:
                self._process.stop()

    def _draw_ahead(self) -> None:
        while True:
            with self._ahead_lock:
                if not self._wanted or self._closed:
                    self._ahead = None
                    return
                wanted = self._wanted.pop(0)
            with suppress(OSError):
                self._picture(*wanted, AHEAD_SECONDS)
            time.sleep(PAUSE_S)  # whoever waits for a page goes first

    def _picture(self, document: Path, page: int, kept: Path, seconds: float) -> Picture:
        try:
            stat = document.stat()
        except OSError as error:
            return Picture("", error=error.strerror or "the file cannot be read")
        key = digest_json([_LAYOUT, os.fsencode(document).hex(), stat.st_size, stat.st_mtime_ns, page])
        if found := _read(key, kept):
            return found
        with self._lock:
            return _read(key, kept) or self._drawn(
                key, {"path": os.fspath(document), "page": page, "memory": MOST_MEMORY}, kept, seconds
            )

    def _drawn(self, key: str, asked: dict[str, str | int], kept: Path, seconds: float) -> Picture:
        if key in self._failed:
            return Picture(key, error=self._failed[key])
        if self._closed:
            return Picture(key, error="the server ends")
        self._process = self._process or PdfProcess(worker.__name__)
        try:
            answer = self._process.ask(asked, seconds)
        except WorkerDied as error:
            if seconds < SECONDS:  # it is tried again when somebody asks for it
                return Picture(key, error=str(error))
            answer = {"error": str(error)}
        if "error" in answer:
            self._failed[key] = answer["error"]
            return Picture(key, error=answer["error"])
        png = base64.b64decode(answer.pop("png"))
        _make_room(kept, len(png))
        _write(kept / f"{key}.png", png)
        _write(kept / f"{key}.json", json.dumps(answer).encode())
        return _read(key, kept) or Picture(key, error="the picture was thrown away at once")


def _read(key: str, kept: Path) -> Picture | None:
    png = kept / f"{key}.png"
    try:
        told = json.loads((kept / f"{key}.json").read_bytes())
        os.utime(png)
    except (OSError, ValueError):
        return None
    boxes = tuple(tuple(box) if box else None for box in told["boxes"])
    return Picture(key, png, told["width"], told["height"], told["text"], boxes)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".page-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _make_room(kept: Path, size: int) -> None:
    """Throw away the pictures that were not looked at for the longest time."""
    there = sorted(((path.stat(), path) for path in kept.glob("*.png")), key=lambda one: one[0].st_mtime_ns)
    left = sum(stat.st_size for stat, _ in there) + size
    for stat, path in there:
        if left <= MOST_BYTES:
            return
        left -= stat.st_size
        for gone in (path, path.with_suffix(".json")):
            with suppress(FileNotFoundError):
                gone.unlink()


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
