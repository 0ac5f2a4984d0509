"""How a document's text is cut into sections and passages: properties on made-up text, and the places chosen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.made_documents import documents, solid

from ragassay.prompts import count_tokens
from ragassay.records import Passage, Section
from ragassay.synth.documents.chunking import by_words
from ragassay.synth.documents.cutting import make_sections, passages_of
from ragassay.synth.documents.text import DocumentText
from ragassay.synth.pdf.readers import OutlineEntry


@given(documents(), st.integers(50, 120), st.integers(1, 4))
def test_sections_cover_the_document_once_within_bounds(document: DocumentText, tokens: int, pages: int) -> None:
    sections = make_sections(document, "d", tokens, pages)
    assert "".join(solid(section.text) for section in sections) == solid(document.text)
    for before, after in pairwise(sections):
        assert before.end <= after.start and not document.text[before.end : after.start].strip()
    for section in sections:
        assert section.text == document.text[section.start : section.end] == section.text.strip()
        assert count_tokens(section.text) <= tokens * 1.15 + 1
        assert section.first_page <= section.last_page < section.first_page + pages
        assert set(range(section.first_page, section.last_page + 1)) <= {number for number, _ in document.pages}


def document_of(*pages: str) -> DocumentText:
    return DocumentText("m.pdf", tuple(enumerate(pages, 1)))


def made(document: DocumentText, size: int, overlap: int) -> list[Passage]:
    return passages_of(document, "m", by_words(document, size, overlap))


def overlaps(passages: Sequence[Passage], document: DocumentText) -> list[int]:
    """How many words two neighbours share, in words."""
    spans = [(p.metadata["start"], p.metadata["end"]) for p in passages]
    return [len(document.text[start:end].split()) for (_, end), (start, _) in pairwise(spans)]


def sentences(n: int, words: int = 10) -> list[str]:
    return [f"Sentence {i} " + "word " * (words - 3) + "ends." for i in range(n)]


def test_prose_is_cut_at_sentence_ends_with_the_overlap_asked_for() -> None:
    document = document_of(" ".join(sentences(100)))
    passages = made(document, 200, 40)
    assert all(p.text.startswith("Sentence") and p.text.endswith("ends.") for p in passages)
    assert all(120 <= len(p.text.split()) <= 250 for p in passages)
    assert all(20 <= shared <= 60 for shared in overlaps(passages, document))
    wrapped = made(document_of("\n".join(sentences(100))), 50, 10)
    assert all(p.text.startswith("Sentence") and p.text.endswith("ends.") for p in wrapped)


def test_a_table_is_cut_at_line_ends() -> None:
    rows = [f"0x{n:04x} REG{n} r/w register number {n}" for n in range(200)]
    document = document_of("\n".join(rows))
    for passage in made(document, 60, 12):
        assert set(passage.text.split("\n")) <= set(rows)
    for section in make_sections(document, "m", 200, 10):
        assert set(section.text.split("\n")) <= set(rows)


def test_text_without_spaces_is_cut_too() -> None:
    chinese = "水泵的密封圈必须每年更换一次。" * 60
    passages = made(document_of(chinese), 100, 20)
    assert len(passages) > 5 and all(len(p.text) <= 150 and p.text.endswith("。") for p in passages)
    run = "x" * 20_000
    assert len(made(document_of(run), 100, 20)) > 3
    assert len(make_sections(document_of(run), "m", 500, 10)) > 3


def test_abbreviations_and_decimals_are_no_sentence_ends() -> None:
    text = " ".join("Use oil, e.g. Shell Omala 2.5 at 3 bar, see Fig. 4 and Dr. Oetker." for _ in range(30))
    for passage in made(document_of(text), 40, 8):
        assert not passage.text.endswith(("e.g.", "Fig.", "Dr."))


def test_sections_begin_at_headings_where_one_is_near() -> None:
    chapters = [f"{n}.1 Chapter about pumps\n" + "\n".join(sentences(14)) for n in range(1, 13)]
    document = document_of("\n".join(chapters))
    tokens = count_tokens(chapters[0])
    sections = make_sections(document, "m", int(2.4 * tokens), 10)
    assert all(re.match(r"\d+\.1 Chapter", section.text) for section in sections)


def test_a_tiny_tail_joins_the_section_before() -> None:
    document = document_of("\n".join(sentences(100)))
    whole = count_tokens(document.text)
    assert len(make_sections(document, "m", int(whole / 1.1), 10)) == 1
    sizes = [count_tokens(section.text) for section in make_sections(document, "m", int(whole / 3.05), 10)]
    assert min(sizes) > 0.2 * whole / 3.05


def test_many_thin_pages_are_cut_by_their_number() -> None:
    document = document_of(*[f"Slide {n}\nA few words." for n in range(1, 26)])
    sections = make_sections(document, "m", 2000, 10)
    assert all(s.last_page - s.first_page < 10 for s in sections) and len(sections) <= 5


def test_pages_without_text_are_kept_and_crossed() -> None:
    document = document_of("One sentence.", "", "Another sentence.")
    passage = made(document, 200, 40)[0]
    assert (passage.metadata["first_page"], passage.metadata["last_page"]) == (1, 3)
    assert document_of("", " ").stretches == ()


@pytest.mark.parametrize(
    ("page", "title", "expected"),
    [
        ("intro\n2.1 Oil change\ntext", "Oil change", "Oil change"),
        ("intro\nOil\nchange\ntext", "Oil  change", "Oil change"),
        ("the oil change is\ntext", "Missing", "Missing"),
    ],
)
def test_headings_are_found_on_their_page(page: str, title: str, expected: str) -> None:
    document = DocumentText(
        "m.pdf", ((4, "before"), (5, page)), (OutlineEntry(5, 1, title), OutlineEntry(9, 1, "gone"))
    )
    (heading,) = document.headings
    assert heading.title == expected
    assert document.title_at(heading.start) == expected and document.title_at(0) == ""
    assert document.text[heading.start :].startswith(("2.1 Oil", "Oil\nchange", "the oil"))


def test_section_record_fields() -> None:
    (section,) = make_sections(document_of("One.", "Two."), "m", 2000, 10)
    assert section == Section(id="m-s0001", doc="m.pdf", first_page=1, last_page=2, start=0, end=9, text="One.\nTwo.")


def test_a_tail_too_short_for_a_passage_joins_the_last_one_and_repeats_no_end() -> None:
    document = document_of("ends! Pump the the the the the • item 2.1 Oil\n the 手册")  # 14 words with the signs
    ends = [passage.metadata["end"] for passage in made(document, 10, 7)]
    assert ends == sorted(set(ends)) and ends[-1] == len(document.text)
