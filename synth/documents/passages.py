"""Passages: the short, overlapping pieces of a document that are retrieved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from ragassay.records import Passage

from .cut_points import Cut, best
from .text import DocumentText

SHORTEST, LONGEST = 0.6, 1.25
"""Of the words asked for; a good place to cut is looked for between the two."""

SHORTEST_TAIL = 0.25
"""What is left over at the end, of the words asked for, joins the passage before when it is less."""

STEP, OVERLAP_STEP = 0.1, 0.25
"""How many words, of those asked for, a better kind of cut may lie away."""


def make_passages(text: DocumentText, document_id: str, passage_words: int, overlap_words: int) -> list[Passage]:
    """The passages of one document, about `passage_words` words long, each beginning about `overlap_words` (less than
    `passage_words`) words before the end of the last, cut at sentence or line ends where there are any.

    No passage crosses a hole that left-out pages made. The title is the heading over what is new in the passage.
    """
    passages: list[Passage] = []
    for spans, places in text.stretches:
        new = 0
        for first, stop in windows(places, passage_words, overlap_words):
            identifier = f"{document_id}-p{len(passages) + 1:05d}"
            passages.append(_passage(text, identifier, spans[first][0], spans[stop - 1][1], spans[new][0]))
            new = stop
    return passages


def _passage(text: DocumentText, identifier: str, start: int, end: int, new: int) -> Passage:
    where = {"first_page": text.page_at(start), "last_page": text.page_at(end - 1), "start": start, "end": end}
    title = text.title_at(new) or PurePosixPath(text.doc).stem
    return Passage(id=identifier, title=title, text=text.text[start:end], metadata={"doc": text.doc, **where})


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
