"""Passages as LangChain's RecursiveCharacterTextSplitter cuts: at blank lines, else line ends, else between words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING

from ..cut_points import Stretch
from ..text import DocumentText, Span

if TYPE_CHECKING:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

_FIRST, _MARKS = 0xF0000, 0xFFFE
"""A plane of Unicode for private use: cleaned text has nothing from it."""


def by_recursive(text: DocumentText, size: int, overlap: int) -> list[Span]:
    """At most `size` words each, and at most `overlap` (less than `size`) words of the last's, as LangChain has it.

    Where no white space is left to cut at, words stay whole and LangChain's own would cut between any two letters.
    """
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap, length_function=_n_words)
    return [span for stretch in text.stretches for span in _spans(splitter, text.text, stretch)]


def _spans(splitter: RecursiveCharacterTextSplitter, text: str, stretch: Stretch) -> list[Span]:
    """What is split has a mark for each word and the white space between them.

    The splitter says only the text of its pieces, and its `add_start_index` goes wrong where lengths are words (it
    takes the overlap for characters). By its first mark a piece is known among all that read the same.
    """
    pieces = (_marks_of(piece) for piece in splitter.split_text(_marked(text, stretch)))
    found: list[Span] = []
    first = 0
    for marks in filter(None, pieces):
        first += (ord(marks[0]) - _FIRST - first) % _MARKS
        found.append(stretch.span(first, first + len(marks)))
    return found


def _marked(text: str, stretch: Stretch) -> str:
    between = [text[place.end : place.start] for place in stretch.places]
    marks = (chr(_FIRST + number % _MARKS) for number in count())
    return "".join(mark + white for white, mark in zip([*between, ""], marks, strict=False))


def _marks_of(piece: str) -> Sequence[str]:
    return "".join(piece.split())


def _n_words(piece: str) -> int:
    return len(_marks_of(piece))
