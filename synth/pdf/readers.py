"""The two PDF readers, PDFium and pypdf, behind one small protocol.

Runs in a worker process (see `worker.py`), so that a reader which crashes or hangs takes no other document along;
it imports nothing of ragassay, to start quickly. PDFium gives columns that run downwards from left to right, or each
character as a line of its own; where the characters stand, it knows, and by that they are put in order.
"""

from __future__ import annotations

import ctypes
import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import cache
from io import BytesIO
from itertools import islice, pairwise
from typing import Any, Literal, NamedTuple

PROBED = 60
"""Characters that are looked at to tell how a page is set."""

_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Glyph(NamedTuple):
    """A character and its origin on the page, in points from the lower left."""

    character: str
    x: float
    y: float


def vertical_text(textpage: Any, text: str) -> str | None:
    """The text in the order of its columns, and None where the page's lines run across; `text` is PDFium's own."""
    if not _EAST_ASIAN.search(text):
        return None
    count = textpage.count_chars()
    if not _runs_down(list(_glyphs(textpage, range(count // 3, min(count, count // 3 + PROBED))))):
        return None
    return in_columns(list(_glyphs(textpage, range(count))))


def in_columns(glyphs: list[Glyph]) -> str:
    """Each tier of the page from above, its columns from the right; lines that run across stay as they are."""
    drops = [a.y - b.y for a, b in pairwise(glyphs) if a.y > b.y and abs(a.x - b.x) < a.y - b.y]
    size = sorted(drops)[len(drops) // 2] if drops else 1.0
    lines = [line for tier in _tiers(_runs(glyphs, size), size) for line in _columns(tier, size)]
    return "\n".join(lines)


def _columns(tier: list[list[Glyph]], size: float) -> Iterator[str]:
    if not _runs_down([glyph for run in tier for glyph in run]):
        yield "".join(glyph.character for run in tier for glyph in run)
        return
    column: list[list[Glyph]] = []
    for run in sorted(tier, key=lambda run: -run[0].x):
        if column and abs(run[0].x - column[0][0].x) > size / 2:
            yield _downwards(column)
            column = []
        column.append(run)
    yield _downwards(column)


def _downwards(runs: list[list[Glyph]]) -> str:
    return "".join(glyph.character for run in sorted(runs, key=lambda run: -run[0].y) for glyph in run)


def _runs(glyphs: Iterable[Glyph], size: float) -> list[list[Glyph]]:
    """Characters that PDFium gives one after the other and that stand one below the other."""
    runs: list[list[Glyph]] = []
    for glyph in glyphs:
        last = runs[-1][-1] if runs else None
        if last and abs(glyph.x - last.x) < size / 2 and 0 <= last.y - glyph.y < 2 * size:
            runs[-1].append(glyph)
        else:
            runs.append([glyph])
    return runs


def _tiers(runs: list[list[Glyph]], size: float) -> list[list[list[Glyph]]]:
    """The runs above one another where the whole page has a gap between them, in PDFium's order within each tier."""
    tiers: list[list[int]] = []
    bottom = float("inf")
    for number in sorted(range(len(runs)), key=lambda number: -runs[number][0].y):
        if runs[number][0].y < bottom - 1.4 * size or not tiers:
            tiers.append([])
        tiers[-1].append(number)
        bottom = min(bottom, runs[number][-1].y)
    return [[runs[number] for number in sorted(tier)] for tier in tiers]


def _runs_down(glyphs: list[Glyph]) -> bool:
    steps = [(abs(b.x - a.x), a.y - b.y) for a, b in pairwise(glyphs)]
    down = sum(across < drop for across, drop in steps)
    return down > sum(across > abs(drop) for across, drop in steps)


def _glyphs(textpage: Any, indexes: Iterable[int]) -> Iterator[Glyph]:
    import pypdfium2.raw as pdfium

    x, y = ctypes.c_double(), ctypes.c_double()
    for index in indexes:
        if pdfium.FPDFText_IsGenerated(textpage, index) == 1 or not pdfium.FPDFText_GetUnicode(textpage, index):
            continue
        if pdfium.FPDFText_GetCharOrigin(textpage, index, x, y):
            yield Glyph(chr(pdfium.FPDFText_GetUnicode(textpage, index)), x.value, y.value)


ReaderName = Literal["pypdf", "pdfium"]
"""`choice.py` says which of them a document is read with."""

MAX_HEADINGS = 20_000
MAX_DEPTH = 20


class UnreadablePdf(Exception):
    """A PDF, or a page of one, that cannot be read; the message says why and, where known, what to do."""


class OutlineEntry(NamedTuple):
    """A bookmark: its page (1-based), its depth (1 is the top) and its title."""

    page: int
    level: int
    title: str


class ReadPage(NamedTuple):
    """The text of a page as it was extracted; `downwards` where it is set in columns that run downwards."""

    text: str
    downwards: bool = False


class OpenPdf:
    """An opened document of `n_pages`."""

    n_pages: int

    def page(self, page: int) -> ReadPage:
        """A page (1-based). Raises UnreadablePdf."""
        try:
            return self._page(page)
        except MemoryError:
            raise
        except Exception as error:
            raise UnreadablePdf(_reason(error)) from error

    def outline(self) -> list[OutlineEntry]:
        """The bookmarks in reading order; empty where there are none or they cannot be read."""
        raise NotImplementedError

    def _page(self, page: int) -> ReadPage:
        """Whatever it raises but MemoryError is a page that cannot be read."""
        raise NotImplementedError


def open_pdf(path: str, reader: ReaderName) -> OpenPdf:
    """Open `path`. Raises UnreadablePdf for a broken file or one that needs a password, and as all here MemoryError."""
    return _Pypdf(path) if reader == "pypdf" else _Pdfium(path)


_BROKEN_OUTLINE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a malformed outline makes pypdf raise, beside its own errors."""

_LOCKED = "is encrypted and needs a password; save a copy without one (qpdf --decrypt --password=… in.pdf out.pdf)"

_DYNAMIC_FORM = (
    "is an XFA form, of which there is only a page that says “Please wait…”; print it into a PDF with Adobe Reader"
)


class _Pypdf(OpenPdf):
    def __init__(self, path: str) -> None:
        logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it warns of every oddity that it repairs
        import pypdf
        from pypdf.errors import FileNotDecryptedError, WrongPasswordError

        _read_each_font_once()
        try:
            self._pdf = pypdf.PdfReader(path)
            self.n_pages = len(self._pdf.pages)
        except (FileNotDecryptedError, WrongPasswordError):
            raise UnreadablePdf(_LOCKED) from None
        except MemoryError:
            raise
        except Exception as error:
            raise UnreadablePdf(_broken(error)) from error
        root = self._pdf.root_object
        if root.get("/NeedsRendering") and "/XFA" in root.get("/AcroForm", {}).get_object():
            raise UnreadablePdf(_DYNAMIC_FORM)

    def _page(self, page: int) -> ReadPage:
        return ReadPage(self._pdf.pages[page - 1].extract_text())

    def outline(self) -> list[OutlineEntry]:
        from pypdf.errors import PyPdfError

        try:
            return list(self._walk(self._pdf.outline, 1))[:MAX_HEADINGS]
        except (PyPdfError, *_BROKEN_OUTLINE):
            return []

    def _walk(self, entries: list[Any], level: int) -> Iterator[OutlineEntry]:
        for entry in entries:
            if isinstance(entry, list):
                if level < MAX_DEPTH:
                    yield from self._walk(entry, level + 1)
                continue
            index = self._pdf.get_destination_page_number(entry)
            if index is not None and index >= 0 and entry.title:
                yield OutlineEntry(index + 1, level, str(entry.title))


@cache
def _read_each_font_once() -> None:
    """pypdf reads the fonts of a page anew for each page, a third of its time: what it makes of one stays with it.

    A version of pypdf that gives more than the font is left to read it each time.
    """
    try:
        from pypdf.generic._font import Font

        read = Font.from_font_resource
    except (ImportError, AttributeError):  # another version of it
        return

    def read_once(resource: Any, *more: Any, **named: Any) -> Any:
        if more or named:
            return read(resource, *more, **named)
        if not hasattr(resource, "read_once"):
            resource.read_once = read(resource)
        return resource.read_once

    Font.from_font_resource = read_once  # type: ignore[assignment, method-assign]


class _Pdfium(OpenPdf):
    def __init__(self, path: str) -> None:
        import pypdfium2

        try:
            self._pdf = pypdfium2.PdfDocument(path)
        except (pypdfium2.PdfiumError, OSError) as error:
            locked = isinstance(error, pypdfium2.PdfiumError) and "password" in str(error).lower()
            raise UnreadablePdf(_LOCKED if locked else _broken(error)) from None
        if self._pdf.get_formtype() == pypdfium2.raw.FORMTYPE_XFA_FULL:
            raise UnreadablePdf(_DYNAMIC_FORM)
        self.n_pages = len(self._pdf)

    def _page(self, page: int) -> ReadPage:
        with closing(self._pdf[page - 1]) as opened, closing(opened.get_textpage()) as textpage:
            text = str(textpage.get_text_bounded())
            if not text and not any(opened.get_objects(max_depth=1)):
                _check_blank(self._pdf, page)
            columns = vertical_text(textpage, text)
            return ReadPage(text) if columns is None else ReadPage(columns, downwards=True)

    def outline(self) -> list[OutlineEntry]:
        import pypdfium2

        try:
            return list(islice(self._walk(), MAX_HEADINGS))
        except (pypdfium2.PdfiumError, UnicodeDecodeError):
            return []

    def _walk(self) -> Iterator[OutlineEntry]:
        for bookmark in self._pdf.get_toc(max_depth=MAX_DEPTH):
            target = bookmark.get_dest()
            index = target.get_index() if target else None
            title = bookmark.get_title()
            if index is not None and title:
                yield OutlineEntry(index + 1, bookmark.level + 1, title)


def _check_blank(pdf: Any, page: int) -> None:
    """Raise if the content of a page on which PDFium sees nothing cannot be unpacked: PDFium does not say so."""
    import pypdf
    import pypdfium2

    alone = BytesIO()  # pypdf takes long to find a page in a long document
    with closing(pypdfium2.PdfDocument.new()) as copy:
        copy.import_pages(pdf, [page - 1])
        copy.save(alone)
    content = pypdf.PdfReader(alone).pages[0].get_contents()
    if content is not None:
        content.get_data()


def _broken(error: Exception) -> str:
    return f"is broken or not a PDF ({_reason(error)})"


def _reason(error: Exception) -> str:
    """The error's kind and what it says, on one short line."""
    said = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
