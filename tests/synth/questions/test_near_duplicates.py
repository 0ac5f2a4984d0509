"""Near-duplicates: held against questions that people wrote, a plain Jaccard, and pairs made by hand."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.synth.questions.reject import THRESHOLD, Seen, shape_of, similarity

# From the FAQs of R, Debian and avr-libc: different questions that people wrote in nearly the same words.
PEOPLE = [
    ("What is missing from Debian GNU/Linux?", "What is Debian GNU/Linux?"),
    ("How do I report a bug in Debian?", "How to report a bug"),
    ("How can R be installed (Windows)", "How can R be installed (Mac)"),
    (
        "How can I contribute financially to the Debian project?",
        "How can I contribute resources to the Debian project?",
    ),
    ("What does the unstable distribution contain?", "What does the testing distribution contain?"),
    ("How can add-on packages be removed?", "How can add-on packages be installed?"),
]
DIFFERENT = [
    ("What is the baud rate of UART0?", "What is the baud rate of UART1?", "en"),
    ("How do I enable the watchdog timer?", "How do I disable the watchdog timer?", "en"),
    ("Why should I use volatile here?", "Why should I not use volatile here?", "en"),
    ("How do I set the fuse bits of the ATmega8 with avrdude?", "How do I set the fuse bits with avrdude?", "en"),
]
SAME = [
    ("How do I read a byte from program memory?", "How can I read bytes from the program memory?", "en"),
    ("What is eeprom_read_byte()?", "what is EEPROM_READ_BYTE", "en"),
    ("Why are interrupts disabled during an ISR?", "Why are the interrupts disabled in an ISR?", "en"),
    ("Wie kann ich eine Tabelle im Flash ablegen?", "Wie kann man Tabellen im Flash ablegen?", "de"),
    ("Comment désactiver une interruption ?", "Comment désactiver les interruptions ?", "fr"),
    ("看门狗定时器的超时时间是多少？", "看门狗定时器的超时时间是多少？。", "zh"),
]


@pytest.mark.parametrize(("one", "other"), PEOPLE)
def test_questions_that_people_asked_apart_stay_apart(one: str, other: str) -> None:
    assert similarity(shape_of(one, "en"), shape_of(other, "en")) < THRESHOLD


@pytest.mark.parametrize(("one", "other", "language"), DIFFERENT)
def test_another_thing_is_another_question(one: str, other: str, language: str) -> None:
    assert similarity(shape_of(one, language), shape_of(other, language)) < THRESHOLD


@pytest.mark.parametrize(("one", "other", "language"), SAME)
def test_the_same_question_in_nearly_the_same_words(one: str, other: str, language: str) -> None:
    assert similarity(shape_of(one, language), shape_of(other, language)) >= THRESHOLD


def test_it_is_the_jaccard_index_of_the_content_words() -> None:
    one, other = shape_of("red green blue black", "xx"), shape_of("green blue black white grey", "xx")
    assert similarity(one, other) == Fraction(3, 6)


@pytest.mark.parametrize(("shared", "more", "found"), [(4, 1, True), (12, 3, True), (3, 1, False), (15, 4, False)])
def test_four_of_five_words_shared_are_a_duplicate_and_fewer_are_not(shared: int, more: int, found: bool) -> None:
    letters = [f"q{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    seen = Seen("xx")
    seen.add("first", " ".join(letters[:shared]))
    assert seen.nearest(" ".join(letters[: shared + more])) == ("first" if found else None)


words = st.lists(st.sampled_from(["red", "green", "blue", "black", "UART0", "UART1", "the", "你好吗"]), min_size=1)


@given(st.lists(words, max_size=12), words)
def test_the_index_finds_what_comparing_with_each_one_finds(earlier: list[list[str]], new: list[str]) -> None:
    seen, text = Seen("en"), " ".join(new)
    for number, other in enumerate(earlier):
        seen.add(str(number), " ".join(other))
    scores = [similarity(shape_of(text, "en"), shape_of(" ".join(other), "en")) for other in earlier]
    best = max(scores, default=Fraction(0))
    assert seen.nearest(text) == (str(scores.index(best)) if best >= THRESHOLD else None)


@given(words, words)
def test_it_is_symmetric_and_one_for_equals(one: list[str], other: list[str]) -> None:
    a, b = shape_of(" ".join(one), "en"), shape_of(" ".join(other), "en")
    assert similarity(a, b) == similarity(b, a)
    assert similarity(a, a) == 1
