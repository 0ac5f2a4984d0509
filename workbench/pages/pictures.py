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

from ragassay.digests import digest_json
from ragassay.synth.pdf.process import MOST_MEMORY, PdfProcess, WorkerDied

from . import worker
from .place import Alignment

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
