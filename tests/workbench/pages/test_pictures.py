"""Pictures of pages, kept and thrown away, and where a page's text stands on them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pdf_maker import LEFT, LINE_HEIGHT, TOP, make_encrypted_pdf, make_pdf

from ragassay.workbench.pages import pictures
from ragassay.workbench.pages.pictures import Picture, Pictures, align, letters_of


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


def test_what_a_run_takes_away_half_written_is_drawn_when_it_is_asked_for_again(
    tmp_path: Path, drawing: Pictures, monkeypatch: pytest.MonkeyPatch
):
    def taken_away(beside: Path, path: Path) -> None:
        beside.unlink()
        raise FileNotFoundError(2, "No such file or directory", str(path))

    path, kept = make_pdf(tmp_path / "a.pdf", ["one"]), tmp_path / "kept"
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", taken_away)
        assert drawing.picture(path, 1, kept).error == "the picture was thrown away at once"
    assert drawing.picture(path, 1, kept).png


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


WIDTH, HEIGHT = 595, 842
LINES = [f"Line {n} says that register R{n:02} holds the value of port {chr(65 + n)}." for n in range(12)]


def drawn(path: Path, kept: Path) -> Picture:
    pictures = Pictures()
    try:
        return pictures.picture(path, 1, kept)
    finally:
        pictures.close()


def test_a_line_is_marked_where_the_pdf_sets_it(tmp_path: Path):
    picture = drawn(make_pdf(tmp_path / "a.pdf", ["\n".join(LINES)]), tmp_path / "kept")
    text = "\n".join(LINES)
    start = text.index(LINES[5])
    (box,) = picture.aligned(text).placed(start, start + len(LINES[5])).boxes
    left, top, right, bottom = (share / 10_000 for share in box)
    baseline = HEIGHT - TOP + 5 * LINE_HEIGHT
    assert left * WIDTH == pytest.approx(LEFT, abs=2) and right * WIDTH > LEFT + 150
    assert baseline - LINE_HEIGHT < top * HEIGHT < baseline - 3 < bottom * HEIGHT < baseline + LINE_HEIGHT - 5
    assert (picture.width, picture.height) == pytest.approx((1240, 1240 * HEIGHT / WIDTH), abs=1)
    assert picture.png is not None and picture.png.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_on_a_page_that_is_turned_the_mark_turns_with_it(tmp_path: Path):
    from pypdf import PdfReader, PdfWriter

    path = make_pdf(tmp_path / "a.pdf", ["\n".join(LINES)])
    writer = PdfWriter(clone_from=PdfReader(path))
    writer.pages[0].rotate(90)
    writer.write(path)
    picture = drawn(path, tmp_path / "kept")
    boxes = picture.aligned("\n".join(LINES)).placed(0, len(LINES[0])).boxes
    baseline = HEIGHT - (HEIGHT - TOP)  # clockwise: what was below the upper edge is left of the right one
    assert picture.width > picture.height
    assert all(baseline - 4 < x0 / 10_000 * HEIGHT < x1 / 10_000 * HEIGHT < baseline + 12 for x0, _, x1, _ in boxes)
    assert min(y0 for _, y0, _, _ in boxes) / 10_000 * WIDTH == pytest.approx(LEFT, abs=2)


def test_text_of_another_page_is_marked_nowhere(tmp_path: Path):
    picture = drawn(make_pdf(tmp_path / "a.pdf", ["\n".join(LINES)]), tmp_path / "kept")
    other = "Nothing of this stands there: a bootloader erases flash pages one after the other."
    placed = picture.aligned(other).placed(0, len(other))
    assert not placed.found


def test_columns_in_another_order_joined_words_and_ligatures_are_found():
    one = "The first column ends with a hyphenated word. The second column speaks of efficient filters."
    other = "The second column speaks of e\ufb03cient \ufb01lters.\nThe first col-\numn ends with a hyphen-\nated word."
    page, drawn_letters = letters_of(one), letters_of(other)
    places = align(page.text, drawn_letters.text)
    assert None not in places
    assert [drawn_letters.text[place] for place in places if place is not None] == list(page.text)


def test_of_two_equal_lines_each_is_itself():
    lines = ["first of its kind here", "PORTB = 0;", "second of its kind there", "PORTB = 0;", "the third and last one"]
    letters = letters_of("\n".join(lines)).text
    assert align(letters, letters) == list(range(len(letters)))


@given(st.text("abcde", max_size=200), st.text("abcde", max_size=200))
def test_a_letter_is_only_placed_on_its_equal_and_no_two_on_one(one: str, other: str):
    places = align(one, other)
    there = [(letter, place) for letter, place in zip(one, places, strict=True) if place is not None]
    assert all(letter == other[place] for letter, place in there)
    assert len({place for _, place in there}) == len(there)
