"""Where a text may be cut: before headings, between paragraphs, at sentence ends, at line ends, between words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from enum import IntEnum
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


_WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_WIDE}][^\w\s]*|[^\s{_WIDE}]{{1,40}}")
"""A word; where a script has no spaces, a character; a longer run without a space is cut."""

_SENTENCE_END = re.compile(r"[.!?…:;]['\"’”)\]»]*$|[。！？；]['\"’”)」』]*$")
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:[A-Z]|e\.g|i\.e|etc|cf|vs|Fig|fig|Sec|sec|No|Nr|Dr|Mr|Mrs|Ms|z\.B|d\.h|bzw|ca|approx)\.$")
_BULLET = re.compile(r"[•▪◦‣–—*\-]\s|\(?\w{1,2}[.)]\s")
_NUMBERED_HEADING = re.compile(r"(?:\d{1,2}(?:\.\d{1,3}){1,5}\.?|(?:Chapter|Appendix|Section)\s+[\dA-Z]+[.:]?)\s+[^\W\d_<].{2,90}$")


def words(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """(start, end) of each word between two offsets."""
    return [match.span() for match in _WORD.finditer(text, start, end)]


def cuts(text: str, spans: list[tuple[int, int]], headings: Set[int]) -> list[Cut]:
    """The place behind each word but the last, with its strength. `headings` are offsets at which headings begin."""
    usual = _usual_line_length(text, spans)
    return [
        Cut(end, start, _strength(text, before, end, start, headings, usual))
        for (before, end), (start, _) in zip(spans, spans[1:], strict=False)
    ]


def _strength(text: str, word: int, end: int, start: int, headings: Set[int], usual: int) -> Strength:
    between = text[end:start]
    at_line_end = "\n" in between
    if at_line_end:
        line_end = text.find("\n", start)
        line = text[start : line_end if line_end >= 0 else len(text)]
        if start in headings or _is_heading(line):
            return Strength.HEADING
        if between.count("\n") > 1 or _BULLET.match(line):
            return Strength.PARAGRAPH
        ends_short = end - (text.rfind("\n", 0, end) + 1) < SHORT_LINE * usual
        if _ends_sentence(text, word, end):
            return Strength.PARAGRAPH if ends_short else Strength.SENTENCE
        return Strength.LINE
    if _ends_sentence(text, word, end) and text[end - 1] not in ":;" and not text[start].islower():
        return Strength.SENTENCE
    return Strength.WORD


def _is_heading(line: str) -> bool:
    return bool(_NUMBERED_HEADING.match(line)) and not _SENTENCE_END.search(line)


def _ends_sentence(text: str, word: int, end: int) -> bool:
    if not _SENTENCE_END.search(text, word, end):
        return False
    return not _ABBREVIATION.search(text[max(0, word - 1) : end])


def _usual_line_length(text: str, spans: list[tuple[int, int]]) -> int:
    """The length that nine of ten lines do not exceed, in characters."""
    if not spans:
        return 0
    lengths = sorted(len(line) for line in text[spans[0][0] : spans[-1][1]].split("\n"))
    return lengths[len(lengths) * 9 // 10]


def best(candidates: Iterator[tuple[int, Cut]], wanted: int, tolerance: int) -> int | None:
    """The index of the best candidate: a stronger cut is worth `tolerance` words of distance from the wanted place."""
    chosen = max(candidates, key=lambda c: (c[1].strength * tolerance - abs(c[0] - wanted), -c[0]), default=None)
    return chosen[0] if chosen else None
