"""Pictures of PDF pages, drawn in a process that may die and kept, the oldest thrown away; and where a stretch of a
page's text stands among the characters that PDFium finds on it.

The text was read by whichever reader, without furniture, its words made whole and its characters made plain, and in its
order; PDFium's characters have boxes. Both are brought down to letters and digits. What occurs once in both is the same
place, wherever it stands (columns may come in another order); what lies between two such places is aligned in order.
What has no counterpart stays without a place: a box is never guessed.
"""

from __future__ import annotations

import base64
import json
import os
import threading
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import digest_json, write_bytes
from ragassay.synth.documents.doc_ids import find_documents
from ragassay.synth.pdf.process import MOST_MEMORY, PdfProcess, WorkerDied

from ..index.build import Kept, digest_kept
from . import worker
from .texts import DocumentPages, Texts

ONCE = (32, 16, 8)
"""Lengths in letters: what occurs once in both texts, longest first."""

NEAR = 400
"""A place of the shortest length counts only this near to where its neighbours stand, in letters."""

LARGEST_GAP = 250_000
"""What is aligned in order between two places: the letters of one text times those of the other, at most."""

ENOUGH = 0.9
"""The share of a stretch's letters from which it counts as placed."""

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Placed:
    """boxes: one a line of the stretch, (x0, y0, x1, y1) as the characters' are. share: of its letters that have a
    place, 0 to 1; None where it has none at all."""

    boxes: tuple[Box, ...]
    share: float | None

    @property
    def found(self) -> bool:
        """Whether enough of it has a place for the boxes to be shown."""
        return self.share is not None and self.share >= ENOUGH


@dataclass(frozen=True)
class Letters:
    """A text's letters and digits without case, accents and ligatures, and which character each is of."""

    text: str
    of: tuple[int, ...]


def letters_of(text: str) -> Letters:
    """The letters and digits of a text."""
    found = [
        (letter, index)
        for index, character in enumerate(text)
        for letter in unicodedata.normalize("NFKD", character).casefold()
        if letter.isalnum()
    ]
    return Letters("".join(letter for letter, _ in found), tuple(index for _, index in found))


class Alignment:
    """A page's text and PDFium's characters of it, each letter of the one with its place in the other."""

    def __init__(self, page: str, characters: str, boxes: Sequence[Sequence[int] | None]) -> None:
        self._page, drawn = letters_of(page), letters_of(characters)
        self._boxes = [boxes[index] for index in drawn.of]
        self._places = align(self._page.text, drawn.text)

    def placed(self, start: int, end: int) -> Placed:
        """Where the characters `start` to `end` of the page's text stand."""
        places = [p for p, index in zip(self._places, self._page.of, strict=True) if start <= index < end]
        there = sorted(place for place in places if place is not None)
        boxes = [box for place in there if (box := self._boxes[place]) is not None]
        return Placed(tuple(lines_of(boxes)), len(boxes) / len(places) if places else None)


def align(one: str, other: str) -> list[int | None]:
    """For each letter of `one` its place in `other`, or None."""
    places: list[int | None] = [None] * len(one)
    taken = [False] * len(other)
    for length in ONCE:
        while _anchor(one, other, places, taken, length):
            pass
    _fill(one, other, places, taken)
    return places


def _anchor(one: str, other: str, places: list[int | None], taken: list[bool], length: int) -> bool:
    """Give a place to what, of the letters that have none, occurs once in both; whether there was any."""
    here = _once(one, [place is not None for place in places], length)
    there = _once(other, taken, length)
    more = False
    for gram, at in here.items():
        to = there.get(gram)
        if to is None or places[at] is not None or taken[to]:
            continue
        beside = places[max(at - NEAR, 0) : at + NEAR]
        if length == ONCE[-1] and not any(place is not None and abs(place - to) <= NEAR for place in beside):
            continue
        more = True
        for step in (-1, 1):
            i, j = (at, to) if step > 0 else (at - 1, to - 1)
            while 0 <= i < len(one) and 0 <= j < len(other) and one[i] == other[j] and places[i] is None:
                if taken[j]:
                    break
                places[i], taken[j] = j, True
                i, j = i + step, j + step
    return more


def _once(text: str, has: Sequence[bool], length: int) -> dict[str, int]:
    """Each run of `length` letters without a place that occurs once among them, and where it begins."""
    found: dict[str, list[int]] = {}
    free = 0
    for end, taken in enumerate(has, 1):
        free = 0 if taken else free + 1
        if free >= length:
            found.setdefault(text[end - length : end], []).append(end - length)
    return {gram: starts[0] for gram, starts in found.items() if len(starts) == 1}


def _fill(one: str, other: str, places: list[int | None], taken: list[bool]) -> None:
    """Align in order what has no place between two letters that have, where these stand in the same order."""
    gaps = [[*run] for empty, run in groupby(range(len(places)), lambda at: places[at] is None) if empty]
    for first, last in [(gap[0], gap[-1] + 1) for gap in gaps]:
        before = places[first - 1] if first else None
        after = places[last] if last < len(places) else None
        room = last - first + 40
        low = before + 1 if before is not None else max((after or 0) - room, 0)
        high = after if after is not None else min(low + room, len(other))
        if (before is None and after is None) or low >= high or (last - first) * (high - low) > LARGEST_GAP:
            continue
        matcher = SequenceMatcher(None, one[first:last], other[low:high], autojunk=False)
        for i, j, size in matcher.get_matching_blocks():
            for step in range(size):
                if not taken[low + j + step]:
                    places[first + i + step], taken[low + j + step] = low + j + step, True


def lines_of(boxes: Sequence[Sequence[int]]) -> Iterator[Box]:
    """Characters' boxes, in PDFium's order, joined where one stands beside the other on a line."""
    line: Box | None = None
    for x0, y0, x1, y1 in boxes:
        if line is not None:
            shared, height = min(line[3], y1) - max(line[1], y0), min(line[3] - line[1], y1 - y0)
            if 2 * shared > height and line[0] <= x0 < line[2] + 4 * height:
                line = (min(line[0], x0), min(line[1], y0), max(line[2], x1), max(line[3], y1))
                continue
            yield line
        line = (x0, y0, x1, y1)
    if line is not None:
        yield line


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
                self.picture(*wanted, AHEAD_SECONDS)
            time.sleep(PAUSE_S)  # whoever waits for a page goes first

    def picture(self, document: Path, page: int, kept: Path, seconds: float = SECONDS) -> Picture:
        """The page (from 1) of the PDF, drawn or from the folder `kept`. seconds: that drawing it may take."""
        try:
            stat = document.stat()
        except OSError as error:
            return Picture("", error=error.strerror or "the file cannot be read")
        key = digest_json([_LAYOUT, os.fsencode(document).hex(), stat.st_size, stat.st_mtime_ns, page])
        if found := _read(key, kept):
            return found
        with self._lock:
            asked: dict[str, str | int] = {"path": os.fspath(document), "page": page, "memory": MOST_MEMORY}
            return _read(key, kept) or self._drawn(key, asked, kept, seconds)

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
        with suppress(FileNotFoundError):  # a run that begins takes away what is half written
            write_bytes(kept / f"{key}.png", png)
            write_bytes(kept / f"{key}.json", json.dumps(answer).encode())
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


def _make_room(kept: Path, size: int) -> None:
    """Throw away the pictures that were not looked at for the longest time."""
    there = sorted(((path.stat(), path) for path in kept.glob("*.png")), key=lambda one: one[0].st_mtime_ns)
    left = sum(stat.st_size for stat, _ in there) + size
    for stat, path in there:
        if left <= MOST_BYTES:
            return
        left -= stat.st_size
        path.unlink(missing_ok=True)
        path.with_suffix(".json").unlink(missing_ok=True)


class Library:
    """What there is of each document. Only names that are in the corpus folder lead to a file."""

    def __init__(self, kept: Kept) -> None:
        self._lock, self._kept = threading.Lock(), kept
        self._pictures = Pictures()
        self._texts: dict[Path, Texts] = {}

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
        try:  # what it was when it was read, as the stage's manifest has it
            then = json.loads((workspace.manifests / "ingest.json").read_bytes())["inputs"][doc]
        except (OSError, ValueError, KeyError, TypeError):
            return False
        path = self.pdf(workspace, doc)
        if path is None or not isinstance(then, str):
            return False
        try:
            return digest_kept(path) != then
        except OSError:
            return True
