"""Two questions in one, and choices between given answers, are named; what asks one thing is let pass."""

from __future__ import annotations

import pytest

from ragassay.synth.questions.need_writer import more_than_one


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
