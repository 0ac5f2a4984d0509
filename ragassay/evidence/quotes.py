"""Finding a quote again in the text it was copied from, whatever a PDF's line ends and hyphens made of it."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

SHORTEST = 8
"""Characters, white space left out, of the shortest quote that is looked for; shorter ones stand anywhere."""

_SAME = str.maketrans(dict.fromkeys("“”„", '"') | dict.fromkeys("‘’", "'") | dict.fromkeys("‐‑–—−", "-"))
"""Marks that models set differently when they copy."""


class Folded(NamedTuple):
    """A text without white space and without hyphens between letters; places[i] is where character i stood."""

    text: str
    places: tuple[int, ...]


class Quotable:
    """A text in which quotes are looked for; it is folded once, at the first quote that is not there as it is."""

    def __init__(self, text: str) -> None:
        self.text = text

    def find(self, quote: str) -> tuple[int, int] | None:
        """As `find_quote`."""
        wanted = _fold(quote)
        if not long_enough(quote):
            return None
        start = self.text.find(quote.strip())
        if start >= 0:
            return start, start + len(quote.strip())
        at = self._folded.text.find(wanted.text)
        if at < 0:
            return None
        return self._folded.places[at], self._folded.places[at + len(wanted.text) - 1] + 1

    def has_twice(self, quote: str) -> bool:
        """Whether the quote stands in more than one place."""
        wanted, text = _fold(quote).text, self._folded.text
        return long_enough(quote) and text.find(wanted, text.find(wanted) + 1) > text.find(wanted) >= 0

    @cached_property
    def _folded(self) -> Folded:
        return _fold(self.text)


def long_enough(quote: str) -> bool:
    """Whether a quote is looked for."""
    return len(_fold(quote).text) >= SHORTEST


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """(start, end) of the quote's first occurrence in `text`, end exclusive; None where it is not there.

    It is looked for as it is, and then without what PDFs and models change when text is copied: white space, hyphens
    between letters, the forms of quotation marks and dashes. Letters and figures have to be the same.
    """
    return Quotable(text).find(quote)


def _fold(text: str) -> Folded:
    marks = text.translate(_SAME)
    dense = [place for place, char in enumerate(marks) if not char.isspace()]
    kept = [
        place
        for number, place in enumerate(dense)
        if not (
            marks[place] == "-"
            and 0 < number < len(dense) - 1
            and marks[dense[number - 1]].isalpha()
            and marks[dense[number + 1]].isalpha()
        )
    ]
    return Folded("".join(marks[place] for place in kept), tuple(kept))
