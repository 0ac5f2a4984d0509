"""What is measured of a question, counted by hand."""

from __future__ import annotations

import pytest

from ragassay.synth.looks.features import (
    TOLD,
    Features,
    Passages,
    features_of,
    form_of,
    is_identifier,
)

TEXTS = [
    "The fuse bits select the clock source of the device.",
    "Call pgm_read_byte to read a byte from program memory.",
    "Interrupts are enabled by sei().",
]
PASSAGES = Passages(TEXTS, "en")


def test_a_question_beside_its_passage() -> None:
    """Content words: read, byte, flash; the passage has the first two. "read a byte from" are 4 of its 8 words."""
    found = features_of("How do I read a byte from flash?", PASSAGES, "en")
    assert found == Features(8, 32, 2 / 3, 0.5, 0, 1, 0, 0, 0, 0)


def test_a_question_that_shares_nothing_with_any_passage() -> None:
    found = features_of("Warranty of ACME-9000 toasters", PASSAGES, "en")
    assert (found.shared_words, found.longest_run, found.identifiers, found.keywords) == (0, 0, 1, 1)
    assert features_of("Why?", Passages([], "en"), "en").shared_words == 0


def test_the_best_passage_is_the_first_of_bm25() -> None:
    """rank-bm25 would put the same first: only the second passage has the rare word."""
    assert PASSAGES.best("What does pgm_read_byte do?") == TEXTS[1]
    assert PASSAGES.best("zebra") == ""


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("How to use external RAM?", "wh"),
        ("Shouldn't I initialize all my variables?", "yes_no"),
        ("Can I use C++ on the AVR?", "yes_no"),
        ("When building the tools on Windows, should I take Cygwin?", "yes_no"),
        ("When I turn on -O2, why does my loop go away?", "wh"),
        ("I am using floating point math. Why is the compiled code so big?", "wh"),
        ("My UART is generating nonsense! Port F is completely broken!", "statement"),
        ("Vitamin C prevents the common cold in children.", "statement"),
        ("avr-ld default linker script location", "keywords"),
        ("Explain how fuses are set.", "wh"),
        ("Kann ich eine Tabelle im Flash ablegen?", "yes_no"),
        ("Warum wird meine Schleife entfernt?", "wh"),
        ("¿Puedo usar C++ en el AVR?", "yes_no"),
        ("看门狗定时器的超时时间是多少？", "wh"),
    ],
)
def test_forms(question: str, form: str) -> None:
    assert form_of(question) == form


NAMES = ["sei()", "pgm_read_byte", "avrGcc", "UART1", "-O2", "C++", "io.h", "MCUCR,", '"sin()"']
WORDS = ["What", "re-enabled", "don't", "“flash”,", "(many)", "a", "...", "undefined?", "end."]


@pytest.mark.parametrize(("word", "is_one"), [*((name, True) for name in NAMES), *((word, False) for word in WORDS)])
def test_names_of_things_and_words_that_are_none(word: str, is_one: bool) -> None:
    assert is_identifier(word) == is_one


def test_scripts_without_spaces_have_words_too() -> None:
    assert features_of("看门狗定时器的超时时间是多少？", PASSAGES, "zh").words == 7


def test_each_is_told_in_words() -> None:
    assert tuple(TOLD) == Features._fields
