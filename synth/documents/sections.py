"""Sections: the long pieces of a document that questions are made from."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from ragassay.records import Section
from ragassay.tokens import count_tokens

from .cut_points import Stretch, best
from .text import DocumentText

SHORTEST = 0.5
LONGEST_LAST = 1.15
SHORTEST_LAST = 0.25
"""Of the tokens asked for: the shortest section that a good place to cut may make, the longest and the shortest last
section of a stretch."""


def make_sections(text: DocumentText, document_id: str, section_tokens: int, section_pages: int) -> list[Section]:
    """Consecutive sections that cover the document, each at most `section_pages` pages and about `section_tokens`
    tokens long, cut before a heading where one is near, else between paragraphs, at a sentence or a line end.

    No section crosses a hole that left-out pages made.
    """
    sections: list[Section] = []
    for stretch in text.stretches:
        for first, stop in _spans(text, stretch, section_tokens, section_pages):
            identifier = f"{document_id}-s{len(sections) + 1:04d}"
            sections.append(_section(text, identifier, first, stop))
    return sections


def _section(text: DocumentText, identifier: str, start: int, end: int) -> Section:
    return Section(
        id=identifier,
        doc=text.doc,
        first_page=text.page_at(start),
        last_page=text.page_at(end - 1),
        start=start,
        end=end,
        text=text.text[start:end],
    )


def _spans(text: DocumentText, stretch: Stretch, tokens: int, pages: int) -> Iterator[tuple[int, int]]:
    spans, places = stretch
    total = _tokens_before(text.text, spans)
    starts, first = [span[0] for span in spans], 0
    while first < len(spans):
        beyond = text.page_start(text.page_at(starts[first]) + pages)
        page_limit = max(bisect_left(starts, beyond), first + 1)
        stop = _fill(total, first, page_limit, tokens)
        if stop < len(spans):
            shortest = bisect_left(total, total[first] + SHORTEST * (total[stop] - total[first]))
            earliest = min(max(shortest, first + 1), stop)
            stop = best(places, earliest - 1, stop - 1, stop - 1, (stop - earliest) / 2) + 1
        yield starts[first], spans[stop - 1][1]
        first = stop


def _tokens_before(text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
    """How many tokens stand before each word, and last how many there are in all."""
    ends = [start for start, _ in spans[1:]] + [spans[-1][1]]
    return [0, *accumulate(count_tokens(text[start:end]) for (start, _), end in zip(spans, ends, strict=True))]


def _fill(total: Sequence[int], first: int, page_limit: int, tokens: int) -> int:
    """The word before which the section stops at the latest: the budget full, yet no tiny tail left behind."""
    everything = len(total) - 1
    if page_limit == everything and total[-1] - total[first] <= LONGEST_LAST * tokens:
        return everything
    full = min(bisect_right(total, total[first] + tokens) - 1, page_limit)
    leaving_enough = bisect_right(total, total[-1] - SHORTEST_LAST * tokens) - 1
    if full < page_limit or page_limit == everything:
        full = min(full, leaving_enough)
    return max(full, first + 1)
