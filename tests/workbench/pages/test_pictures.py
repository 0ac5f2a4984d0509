"""Pictures are drawn once, the oldest make room for new ones, and what cannot be drawn is said."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.pdf_maker import make_encrypted_pdf, make_pdf

from ragassay.workbench.pages import pictures
from ragassay.workbench.pages.pictures import Pictures


@pytest.fixture
def drawing() -> Iterator[Pictures]:
    made = Pictures()
    yield made
    made.close()


def test_a_page_is_drawn_once_and_again_when_the_file_changes(tmp_path: Path, drawing: Pictures):
    path, kept = make_pdf(tmp_path / "a.pdf", ["one"]), tmp_path / "kept"
    first = drawing.picture(path, 1, kept)
    assert first.png is not None
    first.png.write_bytes(b"as it was kept")
    again = drawing.picture(path, 1, kept)
    assert again.png is not None and again.png.read_bytes() == b"as it was kept"
    make_pdf(path, ["another text"])
    assert drawing.picture(path, 1, kept).text.split() == ["another", "text"]


def test_the_oldest_pictures_make_room(tmp_path: Path, drawing: Pictures, monkeypatch: pytest.MonkeyPatch):
    path, kept = make_pdf(tmp_path / "a.pdf", [f"page {n}" for n in range(4)]), tmp_path / "kept"
    first = drawing.picture(path, 1, kept)
    assert first.png is not None
    monkeypatch.setattr(pictures, "MOST_BYTES", 2 * first.png.stat().st_size + 100)
    for page in (2, 3, 4):
        assert drawing.picture(path, page, kept).png
    assert len(list(kept.glob("*.png"))) <= 2 and not first.png.exists() and not first.png.with_suffix(".json").exists()


def test_pages_are_drawn_ahead_without_waiting_and_none_after_the_end(tmp_path: Path, drawing: Pictures):
    path, kept = make_pdf(tmp_path / "a.pdf", ["one", "two", "three"]), tmp_path / "kept"
    drawing.ahead(path, [2, 9, 3], kept)
    for _ in range(600):
        if len(list(kept.glob("*.json"))) == 2:
            break
        time.sleep(0.1)
    there = {one.name for one in kept.glob("*.png")}
    assert {one.png.name for page in (2, 3) if (one := drawing.picture(path, page, kept)).png} == there
    drawing.close()
    drawing.ahead(path, [1], kept)
    assert drawing.picture(path, 1, kept).error == "the server ends"


def test_what_cannot_be_drawn_is_said(tmp_path: Path, drawing: Pictures):
    kept, broken = tmp_path / "kept", tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.4 and nothing else")
    for path, page, said in (
        (tmp_path / "none.pdf", 1, "No such file"),
        (broken, 1, "PdfiumError"),
        (make_encrypted_pdf(tmp_path / "locked.pdf", ["one"]), 1, "assword"),
        (make_pdf(tmp_path / "a.pdf", ["one"]), 2, "1 pages now"),
    ):
        error = drawing.picture(path, page, kept).error
        assert error and said in error
    assert not list(kept.glob("*"))
