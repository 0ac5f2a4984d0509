"""Pages set in columns that run downwards, from right to left, as Japanese and Chinese may be.

PDFium gives such columns from left to right, or each character as a line of its own; where the characters stand, it
knows.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

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
    size = _size(glyphs)
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


def _size(glyphs: list[Glyph]) -> float:
    drops = [a.y - b.y for a, b in pairwise(glyphs) if a.y > b.y and abs(a.x - b.x) < a.y - b.y]
    return sorted(drops)[len(drops) // 2] if drops else 1.0


def _glyphs(textpage: Any, indexes: Iterable[int]) -> Iterator[Glyph]:
    import pypdfium2.raw as pdfium

    x, y = ctypes.c_double(), ctypes.c_double()
    for index in indexes:
        if pdfium.FPDFText_IsGenerated(textpage, index) == 1 or not pdfium.FPDFText_GetUnicode(textpage, index):
            continue
        if pdfium.FPDFText_GetCharOrigin(textpage, index, x, y):
            yield Glyph(chr(pdfium.FPDFText_GetUnicode(textpage, index)), x.value, y.value)
