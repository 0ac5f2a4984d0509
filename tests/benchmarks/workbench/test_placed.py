"""The share of passages that are placed: all of a plain PDF, and boxes that stand elsewhere count as wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.pdf_maker import make_pdf
from support.small_corpus import page

from benchmarks.workbench import placed
from ragassay.workbench.pages.pictures import Alignment, Placed


def test_all_of_a_plain_document_is_placed_and_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = make_pdf(tmp_path / "a.pdf", [page(1), page(2)])
    counts = placed.measured(path, "pdfium")
    assert counts.pieces == counts.placed == counts.right >= 2 and counts.found == counts.letters
    true = Alignment.placed

    def lower(self: Alignment, start: int, end: int) -> Placed:
        boxes = tuple((x0, y0 + 300, x1, y1 + 300) for x0, y0, x1, y1 in true(self, start, end).boxes)
        return Placed(boxes, 1.0)

    monkeypatch.setattr(Alignment, "placed", lower)
    assert placed.measured(path, "pdfium").right == 0
