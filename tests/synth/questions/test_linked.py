"""Sections that go together by what they name; those that BM25 finds first."""

from __future__ import annotations

from ragassay.records import Section
from ragassay.synth.questions.sample import Sections

FILLER = "the system uses this setting and that value when they are given in the file for all users "


def section(name: str, text: str, doc: str = "a.pdf") -> Section:
    return Section(id=name, doc=doc, first_page=1, last_page=1, start=0, end=len(text), text=text)


CORPUS = [
    section("a1", FILLER + "The bootloader checks the BOOTRST fuse before it jumps."),
    section("a2", FILLER + "Interrupt vectors move with the IVSEL bit."),
    section("b1", FILLER + "Programmers write the BOOTRST fuse, and the bootloader stays.", "b.pdf"),
    section("b2", FILLER + "Colours of the case: grey, black.", "b.pdf"),
    section("b3", FILLER + "The BOOTRST fuse and the bootloader in short; nothing on grey cases.", "b.pdf"),
    *(section(f"c{n}", FILLER + f"Chapter on subject{n} with word{n}.") for n in range(20)),
]


def test_sections_that_name_the_same_rare_things_are_linked_across_documents():
    corpus = Sections(CORPUS)
    assert {one.id for one in corpus.linked(CORPUS[0])} == {"b1", "b3"}
    assert {one.id for one in corpus.linked(CORPUS[2])} == {"a1", "b3"}
    assert corpus.linked(CORPUS[1]) == () == corpus.linked(CORPUS[7])


def test_a_copy_is_no_link():
    corpus = Sections([CORPUS[0], section("copy", CORPUS[0].text), *CORPUS[5:]])
    assert corpus.linked(CORPUS[0]) == ()


def test_a_corpus_of_two_sections_on_different_things_has_no_links():
    corpus = Sections([CORPUS[1], CORPUS[3]])
    assert corpus.linked(CORPUS[1]) == ()


def test_the_nearest_by_bm25_without_its_own():
    corpus = Sections(CORPUS)
    found = corpus.nearest("Who writes the BOOTRST fuse?", 2, without=CORPUS[0])
    assert [one.id for one in found] == ["b1", "b3"]
    assert corpus.nearest("zebra?", 3, without=CORPUS[0]) == ()
