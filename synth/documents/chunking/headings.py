"""A passage for the text of each heading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..cut_points import Cut, Strength
from ..text import DocumentText, Span
from .words import SHORTEST_TAIL, windows


def by_headings(text: DocumentText, size: int) -> list[Span]:
    """The text of each heading: cut by words where it is longer than about `size`, with the next where it is tiny.

    Headings are the outline's and lines that begin with a section's number; text without any is cut by words.
    """
    return [
        stretch.span(first + begin, first + end)
        for stretch in text.stretches
        for first, stop in _under_headings(stretch.places, SHORTEST_TAIL * size)
        for begin, end in windows(stretch.places[first : stop - 1], size, 0)
    ]


def _under_headings(places: Sequence[Cut], fewest: float) -> Iterator[tuple[int, int]]:
    """(first, stop) word indexes from heading to heading; what has fewer words than `fewest` goes with the next."""
    first, n_words = 0, len(places) + 1
    for number, place in enumerate(places):
        stop = number + 1
        if place.strength == Strength.HEADING and min(stop - first, n_words - stop) >= fewest:
            yield first, stop
            first = stop
    yield first, n_words
