"""The ways of cutting documents into passages: what all of them keep to, and the places that each chooses."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from langchain_text_splitters import RecursiveCharacterTextSplitter
from support.made_documents import documents, solid

from ragassay.errors import InputError
from ragassay.experiment.plugins import importable
from ragassay.experiment.variant_settings import Chunking
from ragassay.records import Passage
from ragassay.synth.documents.chunking import Means, by_python, by_words, load_own_cut, spans_of
from ragassay.synth.documents.cutting import chunk, make_sections, passages_of
from ragassay.synth.documents.text import DocumentText, Span
from ragassay.synth.pdf.readers import OutlineEntry


def vectors(_: str | None, texts: Sequence[str]) -> npt.NDArray[np.floating]:
    """A direction for each text by its first word's letters; no zeros."""
    return np.array([[1.0, len(text.split()[0]), text.count("P")] for text in texts])


MEANS = Means(vectors)
MOST = {"words": 1.25, "headings": 1.25, "sentences": 1.0, "recursive": 1.0, "semantic": 1.0}
"""Of the size in words, how long a passage may be."""


def n_words(text: str) -> int:
    """Words between white space; a Chinese character with the marks behind it is one."""
    return len(re.findall(r"[\u3400-\u9fff][^\w\s]*|[^\s\u3400-\u9fff]+", text))


@pytest.mark.parametrize("by", ["words", "sentences", "recursive", "headings", "pages", "semantic"])
@given(document=documents(), size=st.integers(10, 40), data=st.data())
def test_every_way_covers_the_text_in_order_within_its_size(
    by: str, document: DocumentText, size: int, data: st.DataObject
) -> None:
    overlaps = by in ("words", "sentences", "recursive")
    overlap = data.draw(st.integers(0, size - 1)) if overlaps else None
    chunking = Chunking.model_validate(
        {"name": "c", "by": by, "size": size if by != "pages" else size // 10, "overlap": overlap}
    )
    spans = spans_of(document, chunking, MEANS)
    assert spans == spans_of(DocumentText(document.doc, document.pages, document.outline), chunking, MEANS)
    covered, last_start, kept = 0, -1, {number for number, _ in document.pages}
    for start, end in spans:
        text = document.text[start:end]
        assert text == text.strip() != ""
        assert start > last_start and end > covered and (overlap or start >= covered)
        assert not document.text[covered:start].strip()
        assert set(range(document.page_at(start), document.page_at(end - 1) + 1)) <= kept
        assert by == "pages" or n_words(text) <= MOST[by] * size
        if overlap is not None and by != "words":
            assert n_words(document.text[start:covered]) <= overlap
        covered, last_start = end, start
    assert not document.text[covered:].strip()


@given(st.lists(st.sampled_from(["a", "b", "aa.", "\n", "\n\n", " "]), max_size=120), st.integers(2, 12), st.data())
def test_recursive_is_langchains_own_and_its_places_are_exact(some: list[str], size: int, data: st.DataObject) -> None:
    """Text that repeats, where a search for the pieces would find others of the same words.

    Of a text of one word LangChain counts the letters where no white space is left to cut at.
    """
    assume(sum(bool(word.strip()) for word in some) > 1)
    document = DocumentText("m.pdf", ((1, " ".join(some)),))
    overlap = data.draw(st.integers(0, size - 1))
    spans = spans_of(document, Chunking(name="c", by="recursive", size=size, overlap=overlap))
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=overlap, length_function=lambda text: len(text.split())
    )
    stripped = document.text.strip()
    assert [document.text[a:b] for a, b in spans] == [one for one in splitter.split_text(stripped) if one]
    assert "".join(solid(document.text[max(a, before) : b]) for (a, b), before in follow(spans)) == solid(document.text)


def follow(spans: Sequence[Span]) -> list[tuple[Span, int]]:
    """Each with the end of the one before."""
    return list(zip(spans, [0, *(end for _, end in spans)], strict=False))


def document_of(*pages: str, outline: Sequence[OutlineEntry] = ()) -> DocumentText:
    return DocumentText("m.pdf", tuple(enumerate(pages, 1)), tuple(outline))


def texts(document: DocumentText, means: Means | None = None, **values: object) -> list[str]:
    spans = spans_of(document, Chunking.model_validate({"name": "c", **values}), means)
    return [document.text[start:end] for start, end in spans]


def test_sentences_are_filled_up_and_repeated_whole() -> None:
    document = document_of("One two three. Four five. Six seven eight. Nine ten.")
    assert texts(document, by="sentences", size=5) == ["One two three. Four five.", "Six seven eight. Nine ten."]
    assert texts(document, by="sentences", size=5, overlap=2) == [
        "One two three. Four five.",
        "Four five. Six seven eight.",
        "Nine ten.",
    ]


def test_headings_begin_passages_and_tiny_ones_join_the_next() -> None:
    body = "\n".join(f"The pump has a property of number {n}q." for n in range(5))
    outline = [OutlineEntry(1, 1, title) for title in ("Alpha", "Beta", "Gamma")]
    document = document_of(f"Alpha\n{body}\nBeta\nGamma\n{body}", outline=outline)
    assert texts(document, by="headings", size=60) == [f"Alpha\n{body}", f"Beta\nGamma\n{body}"]
    assert len(texts(document, by="headings", size=20)) == 4


def test_pages_go_together_by_their_number() -> None:
    document = document_of("one", "two", "", "four", "five")
    assert texts(document, by="pages") == ["one", "two", "four", "five"]
    assert texts(document, by="pages", size=2) == ["one\ntwo", "four", "five"]


def test_semantic_cuts_where_the_distance_is_above_the_percentile() -> None:
    """Rows worked out by hand: the third sentence turns by 90 degrees, the distances are 0, 1, 0."""
    rows = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0], [0.0, 1.0]])
    asked: list[tuple[str | None, list[str]]] = []

    def embed(model: str | None, given: Sequence[str]) -> npt.NDArray[np.floating]:
        asked.append((model, list(given)))
        return rows

    document = document_of("Oil it. Oil more. Pay here. Pay now.")
    found = texts(document, Means(embed), by="semantic", embedding="m", breakpoint=90)
    assert found == ["Oil it. Oil more.", "Pay here. Pay now."]
    company = ["Oil it. Oil more.", "Oil it. Oil more. Pay here.", "Oil more. Pay here. Pay now.", "Pay here. Pay now."]
    assert asked == [("m", company)]
    assert texts(document, Means(embed), by="semantic", size=2, breakpoint=90) == document.text.replace(
        ". ", ".|"
    ).split("|")


def test_what_returns_sections_names_the_one_that_holds_most_of_it() -> None:
    document = document_of(*("\n".join(f"The pump {p}{n} has a property of its own." for n in range(9)) for p in "abc"))
    sections = make_sections(document, "m", 2000, 1)
    chunking = Chunking(name="small", by="recursive", size=40, returns="section")
    found = chunk(document, "m", sections, [chunking])
    assert list(found) == ["small", "sections"]
    for passage in found["small"]:
        where = passage.metadata
        held = {s.id: len(range(max(s.start, where["start"]), min(s.end, where["end"]))) for s in sections}
        assert held[where["section"].removeprefix("sections.")] == max(held.values())
        assert passage.id.startswith("small.m-p0000") and where["chunking"] == "small"
    assert [(one.id, one.text) for one in found["sections"]] == [(f"sections.{s.id}", s.text) for s in sections]
    assert {one.metadata["chunking"] for one in found["sections"]} == {"sections"}


def test_words_are_ingests_own_but_for_their_names() -> None:
    document = document_of(" ".join(f"Sentence {n} has so many words." for n in range(200)))
    ours = passages_of(document, "m", by_words(document, 100, 20))
    (found,) = chunk(document, "m", (), [Chunking(name="w", size=100, overlap=20)]).values()
    assert [bare(one) for one in found] == [bare(one) for one in ours]
    assert [one.id for one in found] == [f"w.{one.id}" for one in ours]


def bare(passage: Passage) -> tuple[str, str, dict[str, object]]:
    return passage.title, passage.text, {k: v for k, v in passage.metadata.items() if k != "chunking"}


OWN = """
from langchain_text_splitters import CharacterTextSplitter

class Sentences:
    def split_text(self, text):
        return text.split(". ")

lines = CharacterTextSplitter(separator="\\n", chunk_size=1, chunk_overlap=0)
def again(text): return ["the pump", " ", "pump  the pump", "the pump"]
def places(text): return [(0, 4), [3, 8]]
def outside(text): return [(0, 999)]
def backwards(text): return [(4, 8), (0, 3)]
def loud(text): return text.upper().splitlines()
def back(text): return ["pump", "the pump the"]
def broken(text): raise ValueError("no such thing")
nothing = 7
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "own_cuts.py").write_text(OWN, "utf-8")
    return tmp_path


def cut_by(own: Path, name: str, text: str) -> list[Span]:
    with importable(own):
        sys.modules.pop("own_cuts", None)
        loaded = load_own_cut("mine", f"own_cuts:{name}", own, own / "experiment.toml")
        return by_python(document_of(text), loaded)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Sentences", "One two. Three", ["One two", "Three"]),
        ("lines", "One\nTwo", ["One", "Two"]),
        ("again", "the pump the\npump the pump", ["the pump", "pump the\npump", "the pump"]),
        ("places", "one two three", ["one", "two"]),
    ],
)
def test_pieces_of_own_code_are_found_in_their_order(own: Path, name: str, text: str, expected: list[str]) -> None:
    assert [text[a:b] for a, b in cut_by(own, name, text)] == expected


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("loud", r"gives a piece 1 that is not in the text of m\.pdf .*\"THE PUMP THE PUMP\""),
        ("outside", r"gives a piece 1 that is not in the text of m\.pdf"),
        ("backwards", r"gives a piece 2 that is not in the text of m\.pdf from where the one before begins"),
        ("back", r"gives a piece 2 that is not in the text of m\.pdf .*\"the pump the\""),
        ("broken", r"fails on m\.pdf \(ValueError: no such thing\)"),
        ("nothing", "is nothing that cuts a text"),
        ("gone", "is nothing that cuts a text"),
    ],
)
def test_own_code_that_cannot_be_used_is_one_sentence(own: Path, name: str, said: str) -> None:
    with pytest.raises(InputError, match=rf"chunking 'mine': own_cuts:{name} {said}") as caught:
        cut_by(own, name, "the pump the pump")
    assert "\n" not in str(caught.value) and "experiment.toml" in str(caught.value)
