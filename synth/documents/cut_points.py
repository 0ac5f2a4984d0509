"""Where a text may be cut: before headings, between paragraphs, at sentence ends, at line ends, between words."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

SHORT_LINE = 0.7
"""A line that ends this far short of the usual length ends a paragraph, a list item or a line of code."""


class Strength(IntEnum):
    """How good a place is to cut at, the best last."""

    WORD = 0
    LINE = 1
    SENTENCE = 2
    PARAGRAPH = 3
    HEADING = 4


class Cut(NamedTuple):
    """A place between two words: the first ends before `end`, the next begins at `start`; white space lies between."""

    end: int
    start: int
    strength: Strength


class Stretch(NamedTuple):
    """A stretch of text without a hole: (start, end) of each of its words, and the places between them (one fewer)."""

    spans: list[tuple[int, int]]
    places: list[Cut]

    def span(self, first: int, stop: int) -> tuple[int, int]:
        """(start, end) in the text of the words from `first` to `stop`, excluded."""
        return self.spans[first][0], self.spans[stop - 1][1]


_WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_WIDE}][^\w\s]*|[^\s{_WIDE}]{{1,40}}")
"""A word; where a script has no spaces, a character; a longer run without a space is cut."""

_SENTENCE_END = re.compile(r"[.!?…:;]['\"’”)\]»]*$|[。！？；]['\"’”)」』]*$")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Z]|e\.g|i\.e|etc|cf|vs|Fig|fig|Sec|sec|No|Nr|Dr|Mr|Mrs|Ms|z\.B|d\.h|bzw|ca|approx)\.$"
)
_BULLET = re.compile(r"[•▪◦‣–—*\-]\s")
_COUNTED_ITEM = re.compile(r"[(\[]?\w{1,2}[.)\]]\s")
_CLOSING = frozenset(")]}>,;.:!?”»’%")
_NUMBERED_HEADING = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,3}){1,5}\.?|(?:Chapter|Appendix|Section)\s+[\dA-Z]+[.:]?)\s+[^\W\d_<].{2,90}$"
)


def cut(text: str, start: int, end: int, headings: Set[int] = frozenset()) -> Stretch:
    """The words between two offsets and the places between them. `headings` are offsets at which headings begin."""
    spans = [match.span() for match in _WORD.finditer(text, start, end)]
    usual = _usual_line_length(text[start:end])
    places = [
        Cut(before_end, next_start, _strength(text, before, before_end, next_start, headings, usual))
        for (before, before_end), (next_start, _) in pairwise(spans)
    ]
    return Stretch(spans, places)


def _strength(text: str, word: int, end: int, start: int, headings: Set[int], usual: int) -> Strength:
    between = text[end:start]
    ends_sentence = _ends_sentence(text, word, end)
    if "\n" not in between:
        return Strength.SENTENCE if ends_sentence and _begins_sentence(text, end, start) else Strength.WORD
    line_end = text.find("\n", start)
    line = text[start : line_end if line_end >= 0 else len(text)]
    if start in headings or _is_heading(line):
        return Strength.HEADING
    if between.count("\n") > 1 or _BULLET.match(line):
        return Strength.PARAGRAPH
    ends_short = end - (text.rfind("\n", 0, end) + 1) < SHORT_LINE * usual
    if ends_sentence and (ends_short or _COUNTED_ITEM.match(line)):
        return Strength.PARAGRAPH
    if ends_sentence:
        return Strength.SENTENCE
    return Strength.WORD if text[start] in _CLOSING and not ends_short else Strength.LINE


def _begins_sentence(text: str, end: int, start: int) -> bool:
    return text[end - 1] not in ":;" and not text[start].islower()


def _is_heading(line: str) -> bool:
    return bool(_NUMBERED_HEADING.match(line)) and not _SENTENCE_END.search(line)


def _ends_sentence(text: str, word: int, end: int) -> bool:
    if not _SENTENCE_END.search(text, word, end):
        return False
    return not _ABBREVIATION.search(text[max(0, word - 1) : end])


def _usual_line_length(text: str) -> int:
    """The length that nine of ten lines do not exceed, in characters."""
    lengths = sorted(map(len, text.split("\n")))
    return lengths[len(lengths) * 9 // 10]


def best(cuts: Sequence[Cut], first: int, last: int, wanted: int, tolerance: float) -> int:
    """The index of the best cut from `first` to `last` (both included, first <= last).

    A cut one step stronger is worth `tolerance` words of distance from the one wanted; of equals the first is taken.
    A place within a line and a sentence is taken only where there is no other.
    """
    places = [i for i in range(first, last + 1) if cuts[i].strength > Strength.WORD] or range(first, last + 1)
    return max(places, key=lambda i: (cuts[i].strength * tolerance - abs(i - wanted), -i))
