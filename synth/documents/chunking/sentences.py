"""Passages of whole sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..cut_points import Strength, Stretch
from ..text import DocumentText, Span
from .words import parts

Run = tuple[int, int]
"""Indexes of words in a stretch: the first, and the one behind the last."""


def by_sentences(text: DocumentText, size: int, overlap: int) -> list[Span]:
    """As many whole sentences as fit into `size` words, the first of them those of the last that fit into `overlap`.

    A longer sentence is cut into parts of at most `size` words.
    """
    return [
        stretch.span(first, stop)
        for stretch in text.stretches
        for first, stop in filled(cut_to(stretch, sentences(stretch), size), size, overlap)
    ]


def sentences(stretch: Stretch) -> list[Run]:
    """The stretch's sentences in order; headings, paragraphs and list items end one as well."""
    ends = [number + 1 for number, place in enumerate(stretch.places) if place.strength >= Strength.SENTENCE]
    return list(zip([0, *ends], [*ends, len(stretch.spans)], strict=True))


def cut_to(stretch: Stretch, runs: Sequence[Run], size: int) -> list[Run]:
    """The same, those of more than `size` words cut into parts."""
    return [part for first, stop in runs for part in parts(stretch.places, first, stop, size)]


def filled(runs: Sequence[Run], size: int, overlap: int) -> Iterator[Run]:
    """Neighbouring runs together, as many as fit into `size`; those that fit into `overlap` begin the next as well."""
    first = 0
    while first < len(runs):
        stop = first + 1
        while stop < len(runs) and runs[stop][1] - runs[first][0] <= size:
            stop += 1
        yield runs[first][0], runs[stop - 1][1]
        first = _next_first(runs, first, stop, size, overlap) if stop < len(runs) else stop


def _next_first(runs: Sequence[Run], first: int, stop: int, size: int, overlap: int) -> int:
    """Where the next begins: what it repeats must leave room for something new."""
    begin = stop
    while (
        begin > first + 1
        and runs[stop - 1][1] - runs[begin - 1][0] <= overlap
        and runs[stop][1] - runs[begin - 1][0] <= size
    ):
        begin -= 1
    return begin
