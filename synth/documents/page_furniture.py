"""Running heads, feet and page numbers, found by their repetition and taken away.

They are peeled off from the outside of the page: a line goes only when every line beyond it has gone. It goes when it
begins or ends with the page's printed number (one that lies the same distance from the page's place in the file on
many pages), or when the very same line stands outermost on most pages, or on most pages of one stretch (a chapter).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

ROUNDS = 5
"""How many lines may be peeled off each end of a page."""

LONGEST = 160
"""A longer line is text, whatever it begins or ends with, in characters."""

FEWEST, FEWEST_WITH_WORDS = 3, 5
NUMBERED_SHARE = 0.1
MOST_DISTINCT = 0.75
"""A printed number is believed when this many pages, and this share of them, agree on its distance, and the words
beside it recur: where they differ from page to page, the lines are numbered headings."""

REPEATED_SHARE = 0.5
STRETCH_SHARE = 0.45
"""Of the pages between a head's first and last page; heads of odd and even pages alternate."""

_FIRST = re.compile(r"^[\W_]*(\d{1,4})(?![\w.)]|:\w)(.*)$")
_LAST = re.compile(r"^(.*?)(?<![\w.,])(\d{1,4})[\s\-–—|\])]*$")
_OF = re.compile(r"^(.*?)(?<![\w.,])(\d{1,4})\s*(?:/|\bof\b)\s*\d{1,4}[\s\-–—|\])]*$")
_ROMAN = re.compile(r"(?=[ivxlc])(c{0,3})(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})")
_ROMAN_VALUE = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}

Lines = list[str]


class Stripped(NamedTuple):
    """The pages without furniture, and how far the printed page numbers lie behind the pages' places in the file."""

    pages: list[str]
    distances: frozenset[int]


def strip_furniture(numbers: Sequence[int], pages: Sequence[str]) -> Stripped:
    """Take running heads, feet and page numbers away; `numbers` are the pages' places in the file, from 1.

    Where that would leave most pages empty, the repetition is the text itself, and the pages come back as they were.
    """
    lines = {number: page.split("\n") for number, page in zip(numbers, pages, strict=True)}
    distances: set[int] = set()
    for at in (0, -1):
        for _ in range(ROUNDS):
            _drop_blank(lines, at)
            distances |= _distances(lines, at)
            if not _peel(lines, at):
                break
    stripped = ["\n".join(page).strip("\n") for page in lines.values()]
    emptied = sum(bool(before.strip()) and not after.strip() for before, after in zip(pages, stripped, strict=True))
    return Stripped(list(pages) if emptied * 2 > len(pages) else stripped, frozenset(distances))


def _drop_blank(pages: Mapping[int, Lines], at: int) -> None:
    for page in pages.values():
        while page and not page[at].strip():
            page.pop(at)


def _peel(pages: Mapping[int, Lines], at: int) -> bool:
    """Take the outermost line (`at` 0: first, -1: last) off the pages where it is furniture; whether any went."""
    repeated, distances = _repeated(pages, at), _distances(pages, at)
    gone = [
        number
        for number, page in pages.items()
        if page and (_key(page[at]) in repeated or any(number - n in distances for n, _ in _printed_numbers(page[at])))
    ]
    for number in gone:
        pages[number].pop(at)
    return bool(gone)


def _repeated(pages: Mapping[int, Lines], at: int) -> set[str]:
    places: dict[str, list[int]] = {}
    for number, page in pages.items():
        if page and (key := _key(page[at])):
            places.setdefault(key, []).append(number)
    return {key for key, where in places.items() if _is_everywhere(where, len(pages))}


def _is_everywhere(places: Sequence[int], n_pages: int) -> bool:
    if len(places) < FEWEST:
        return False
    span = max(places) - min(places) + 1
    stretch = len(places) >= FEWEST_WITH_WORDS and len(places) >= STRETCH_SHARE * span
    return stretch or len(places) >= REPEATED_SHARE * n_pages


def _key(line: str) -> str:
    """The line as it is compared; empty for one that is too long or next to empty, such as a closing bracket."""
    key = " ".join(line.split()).casefold()
    return key if len(key) <= LONGEST and sum(map(str.isalnum, key)) >= 3 else ""


def _distances(pages: Mapping[int, Lines], at: int) -> set[int]:
    """Each (place - printed number) that enough pages agree on at this end."""
    words: dict[int, list[str]] = {}
    for number, page in pages.items():
        for printed, beside in _printed_numbers(page[at]) if page else ():
            words.setdefault(number - printed, []).append(beside)
    return {distance for distance, beside in words.items() if _is_numbering(beside, len(pages))}


def _is_numbering(beside: Sequence[str], n_pages: int) -> bool:
    fewest = FEWEST_WITH_WORDS if any(beside) else FEWEST
    return len(beside) >= max(fewest, NUMBERED_SHARE * n_pages) and len(set(beside)) <= MOST_DISTINCT * len(beside)


def _printed_numbers(line: str) -> Iterator[tuple[int, str]]:
    """The number, arabic or roman, that a line begins or ends with, and the letters of the rest of the line."""
    if len(line) > LONGEST:
        return
    found = set()
    if match := _FIRST.match(line):
        found.add((int(match[1]), _letters(match[2])))
    if match := _OF.match(line) or _LAST.match(line):
        found.add((int(match[2]), _letters(match[1])))
    before, _, last = line.strip().rpartition(" ")
    numeral = last if before else last.lower()
    if _ROMAN.fullmatch(numeral):
        found.add((roman_value(numeral), _letters(before)))
    yield from sorted(found)


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text)).casefold()


def roman_value(numeral: str) -> int:
    """The value of a roman numeral below 400, written in small letters."""
    values = [_ROMAN_VALUE[letter] for letter in numeral]
    return sum(-value if value < max(values[i:]) else value for i, value in enumerate(values))
