"""Quotes found again in the text: where they are as they were, and where copying changed what PDFs change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evidence import Quotable, find_quote

TEXT = (
    "The watchdog resets the con-\ntroller unless wdt_reset() is called.\n   A time-out of -1 means “never”; "
    "see fixed-\npoint numbers.\nPORTB0–PORTB7 are outputs,   PORTC0 is not."
)
words = st.text(alphabet="abcABZ019_-.é“” \n", min_size=1, max_size=80)


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("wdt_reset() is called", "wdt_reset() is called"),
        ("  wdt_reset() is called.\n", "wdt_reset() is called."),
        ("resets the controller unless", "resets the con-\ntroller unless"),
        ("resets the con- troller unless", "resets the con-\ntroller unless"),
        ("see fixed-point numbers", "see fixed-\npoint numbers"),
        ('A timeout of -1 means "never"', "A time-out of -1 means “never”"),
        ("PORTB0-PORTB7 are outputs, PORTC0", "PORTB0–PORTB7 are outputs,   PORTC0"),
        ("A time-out of 1 means", None),
        ("a time-out of -1 means", None),
        ("PORTB0-PORTB6 are outputs", None),
        ("the watch … is called", None),
        ("is not", None),
        ("", None),
    ],
)
def test_a_quote_is_found_as_far_as_copying_changes_nothing_that_matters(quote: str, found: str | None):
    place = find_quote(quote, TEXT)
    assert (TEXT[place[0] : place[1]] if place else None) == found


@pytest.mark.parametrize(
    ("quote", "twice"), [("set it  high", True), ("set it high now", False), ("set it low", False), ("it", False)]
)
def test_a_quote_in_several_places_is_known(quote: str, twice: bool):
    assert Quotable("First set it\nhigh. Then set it high now.").has_twice(quote) is twice


@given(words, words.map("reset{}timer".format), words)
def test_whatever_was_copied_out_is_found_and_reads_the_same(before: str, quote: str, after: str):
    """A quote of at least eight letters that ends in no hyphen, which would join what is not quoted."""
    text = before + quote + after
    for copied in (quote, quote.replace(" ", "\n  "), quote.replace("\n", " "), quote.replace("“", '"')):
        place = find_quote(copied, text)
        assert place is not None
        start, end = place
        assert 0 <= start < end <= len(text)
        assert _letters(text[start:end]) == _letters(quote)


def _letters(text: str) -> str:
    return "".join(char for char in text if char.isalnum() or char in "_.")
