"""Passages of about so many words, each beginning before the end of the last: the way of [ingest] itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..cut_points import Cut, best
from ..text import DocumentText, Span

SHORTEST, LONGEST = 0.6, 1.25
"""Of the words asked for; a good place to cut is looked for between the two."""

SHORTEST_TAIL = 0.25
"""What is left over at the end, of the words asked for, joins the passage before when it is less."""

STEP, OVERLAP_STEP = 0.1, 0.25
"""How many words, of those asked for, a better kind of cut may lie away."""


def by_words(text: DocumentText, size: int, overlap: int) -> list[Span]:
    """About `size` words each, at most LONGEST times that, and about `overlap` (less than `size`) of the last's."""
    return [
        stretch.span(first, stop)
        for stretch in text.stretches
        for first, stop in windows(stretch.places, size, overlap)
    ]


def windows(places: Sequence[Cut], size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """(first, stop) word indexes, stop excluded, that cover the len(places) + 1 words; 0 <= overlap < size."""
    n_words, first, covered = len(places) + 1, 0, 0
    while n_words - first > LONGEST * size:
        stop = _stop(places, first, covered, size)
        if stop <= covered:  # what is left is a tail: the last passage takes it, and less of what is covered
            first = n_words - int(LONGEST * size)
            break
        yield first, stop
        first, covered = _next_first(places, first, stop, min(overlap, size - 1)), stop
    yield first, n_words


def parts(places: Sequence[Cut], first: int, stop: int, size: int) -> Iterator[tuple[int, int]]:
    """The words from `first` to `stop`, excluded, in runs of at most `size`, cut where it is best to cut."""
    while stop - first > size:
        earliest, latest = first + max(int(SHORTEST * size), 1), first + size
        end = best(places, earliest - 1, latest - 1, latest - 1, STEP * size) + 1
        yield first, end
        first = end
    yield first, stop


def _stop(places: Sequence[Cut], first: int, covered: int, size: int) -> int:
    """Where the passage that begins at `first` stops: beyond what is covered, and leaving no tiny tail."""
    latest = int(min(first + LONGEST * size, len(places) + 1 - SHORTEST_TAIL * size))
    earliest = min(max(int(first + SHORTEST * size), covered + 1), latest)
    return best(places, earliest - 1, latest - 1, first + size - 1, STEP * size) + 1


def _next_first(places: Sequence[Cut], first: int, stop: int, overlap: int) -> int:
    """Where the next passage begins: `overlap` words before `stop`, give or take half of that for a better place."""
    if overlap == 0:
        return stop
    earliest = max(stop - int(1.5 * overlap), first + 1)
    latest = max(stop - max(overlap // 2, 1), earliest)
    return best(places, earliest - 1, latest - 1, stop - overlap - 1, OVERLAP_STEP * overlap) + 1
