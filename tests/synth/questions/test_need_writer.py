"""Two questions in one and choices between given answers are named; which sections are linked."""

from __future__ import annotations

import random

import pytest
from rank_bm25 import BM25Okapi

from ragassay.records import Section
from ragassay.synth.questions.need_writer import Sections, more_than_one


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Why does the timer drift and how do I correct it?", "two questions in one: “and how do”"),
        ("Is the fuse set and does it survive a reset?", "two questions in one: “and does it”"),
        ("Why does it drift? How do I correct the timer?", "two questions in one: two question marks"),
        ("Warum driftet der Timer und wie stelle ich ihn?", "two questions in one: “und wie stelle”"),
        ("Pourquoi la minuterie dérive et comment la régler ?", "two questions in one: “et comment la”"),
        ("Should I use malloc or a static buffer?", "either/or: “Should I use malloc or”"),
        ("Does the loop run at once, or do I have to start it?", "either/or: “Does the loop run at once, or”"),
        ("Is the table kept in .data or in .bss?", "either/or: “in .data or in”"),
        ("How can I tell whether the fuse or the clock is wrong?", "either/or: “whether the fuse or”"),
        ("Which is faster, a table or a switch?", "either/or: “Which is faster, a table or”"),
        ("Soll ich malloc oder einen festen Puffer nehmen?", "either/or: “Soll ich malloc oder”"),
    ],
)
def test_what_asks_twice_or_offers_a_choice_is_named(text: str, reason: str):
    assert more_than_one(text) == reason


@pytest.mark.parametrize(
    "text",
    [
        "I moved my table of menu texts into flash, but RAM usage hardly went down. What did I miss?",
        "Why does my inline assembly disappear from the program when I turn on optimization?",
        "When and where is the stack pointer set up?",
        "How do I read or write a byte of the EEPROM?",
        "How do I know whether the fuse is set or not?",
        'What does "Are you sure?" mean in the programmer?',
        "How do I define and initialise a table in flash?",
        "Either one or two drugs lower the risk.",
        "Wie lese und schreibe ich ein Byte?",
    ],
)
def test_what_asks_one_thing_passes(text: str):
    assert more_than_one(text) is None


def test_a_choice_is_what_a_comparison_is_about():
    assert more_than_one("Which is faster, a table or a switch?", comparison=True) is None
    assert more_than_one("Which is faster and why is it so?", comparison=True) is not None


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
    copied = Sections([CORPUS[0], section("copy", CORPUS[0].text), *CORPUS[5:]])
    assert copied.linked(CORPUS[0]) == (), "a copy is no link"
    assert Sections([CORPUS[1], CORPUS[3]]).linked(CORPUS[1]) == ()


def test_the_nearest_are_those_of_rank_bm25():
    words = [f"{first}{second}word" for first in "abcdef" for second in "xyz"]
    chance = random.Random(7)
    texts = [" ".join(chance.choices(words, range(1, 19), k=chance.randint(3, 40))) for _ in range(30)]
    made = [CORPUS[0].model_copy(update={"id": f"s{n}", "text": text}) for n, text in enumerate(texts)]
    corpus, peer = Sections(made), BM25Okapi([text.split() for text in texts])
    assert corpus.nearest("zebra?", 3, without=made[0]) == ()
    for _ in range(50):
        asked = chance.choices(words, k=4)
        scores = peer.get_scores(asked).tolist()
        held = [n for n, text in enumerate(texts) if n and set(asked) & set(text.split())]
        best = sorted(held, key=lambda n: (-scores[n], n))[:5]
        assert [one.id for one in corpus.nearest(" ".join(asked), 5, without=made[0])] == [f"s{n}" for n in best]
