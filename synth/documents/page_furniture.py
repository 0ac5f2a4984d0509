"""What of a printed document's pages is not its text: running heads, feet and page numbers, contents and index.

Last, which of the pages that are left look wrong.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ragassay.records import Page, Record, grouped

from ..checking.wording import mojibake
from ..pdf.soundness import fault
from .text import squashed

LEADERS_OF_PAGE = 0.5
FEWEST_LEADERS = 3
FEWEST_WORDS_BEHIND = 25
"""On a page with this share of leader lines every line goes, but for a text of this many words behind the last of
them; on a page with fewer, if with this many, the leader lines go."""

TITLES_OF_PAGE = 0.6
FEWEST_TITLES = 6
TITLES_FOUND = 0.5
"""A page without leaders is contents when this share of its lines are titles with page numbers that never fall, and
this share of those titles stand on the pages they name."""

INDEX_BEGINS = 0.6
INDEX_OF_PAGE = 0.3
FEWEST_ENTRIES = 8
"""An index page lies behind this share of the document and has this share of lines that end in ", 12, 34"."""

LONGEST_ENTRY = 300

_LEADER = re.compile(
    r"(?:\s?[.·…](?:\s?[.·…]){3,}\s*|\s[.…]{2,}\s+)(?:\d{1,4}|[ivxlc]+)?(?:,\s?\d{1,4})*\s*$", re.IGNORECASE
)
_TITLE = re.compile(r"^(.*[^\W\d_]{2}.*?)[\s.]+(\d{1,4})$")
_INDEX_ENTRY = re.compile(r".*[^\W\d_]{2}.*,\s?((?:\d{1,4}(?:\s?[-–]\s?\d{1,4})?,\s?)*\d{1,4}(?:\s?[-–]\s?\d{1,4})?)$")


def strip_contents(numbers: Sequence[int], pages: Sequence[str], distances: set[int]) -> list[str]:
    """The pages of one document without contents and index; a page that is nothing else is left empty.

    They name every subject of a document and explain none, so a retriever would find them for any question.
    `numbers` are the pages' places in the file, `distances` how far the printed page numbers may lie behind them.
    """
    found = dict(zip(numbers, map(squashed, pages), strict=True))
    last, stripped = max(numbers, default=0), list[str]()
    for number, page in zip(numbers, pages, strict=True):
        lines = [line for line in page.split("\n") if line.strip()]
        nothing_else = _is_title_list(lines, found, distances | {0}) or _is_index(lines, number, last)
        stripped.append("" if nothing_else else _without_leaders(page))
    return stripped


def _without_leaders(page: str) -> str:
    """On a page that is mostly leaders everything to the last of them goes, and what follows too, if it is little."""
    lines = page.split("\n")
    leaders = [number for number, line in enumerate(lines) if _is_leader(line)]
    if len(leaders) < FEWEST_LEADERS:
        return page
    if len(leaders) < LEADERS_OF_PAGE * sum(bool(line.strip()) for line in lines):
        return "\n".join(line for line in lines if not _is_leader(line)).strip("\n")
    behind = "\n".join(lines[leaders[-1] + 1 :]).strip("\n")
    return behind if len(behind.split()) >= FEWEST_WORDS_BEHIND else ""


def _is_leader(line: str) -> bool:
    """A row of a table that is nothing but dots is none."""
    return any(map(str.isalnum, line)) and bool(_LEADER.search(line))


def _is_title_list(lines: Sequence[str], found: Mapping[int, str], distances: set[int]) -> bool:
    titles = [(match[1], int(match[2])) for line in _ending_in_a_digit(lines) if (match := _TITLE.match(line))]
    if len(titles) < max(FEWEST_TITLES, TITLES_OF_PAGE * len(lines)):
        return False
    pages = [page for _, page in titles]
    falls = sum(after < before for before, after in pairwise(pages))
    stand = sum(any(squashed(title) in found.get(page + d, "") for d in distances) for title, page in titles)
    return falls * 20 <= len(titles) and stand >= TITLES_FOUND * len(titles)


def _is_index(lines: Sequence[str], number: int, last: int) -> bool:
    if number < INDEX_BEGINS * last:
        return False
    entries = [match[1] for line in _ending_in_a_digit(lines) if (match := _INDEX_ENTRY.match(line))]
    beyond = sum(int(page) > last for entry in entries for page in re.findall(r"\d+", entry))
    return len(entries) >= max(FEWEST_ENTRIES, INDEX_OF_PAGE * len(lines)) and not beyond


def _ending_in_a_digit(lines: Sequence[str]) -> list[str]:
    """The short lines that may be entries; the patterns are slow on others."""
    return [line.strip() for line in lines if line.rstrip()[-1].isdigit() and len(line) <= LONGEST_ENTRY]


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

    They are found by their repetition and peeled off from the outside of the page: a line goes only when every line
    beyond it has gone. It goes when it begins or ends with the page's printed number (one that lies the same distance
    from the page's place in the file on many pages), or when the very same line stands outermost on most pages, or on
    most pages of one stretch (a chapter).

    Where that would leave most pages empty, the repetition is the text itself, and the pages come back as they were.
    """
    lines = {number: page.split("\n") for number, page in zip(numbers, pages, strict=True)}
    distances: set[int] = set()
    for at in (0, -1):
        for _ in range(ROUNDS):
            for page in lines.values():
                while page and not page[at].strip():
                    page.pop(at)
            repeated, agreed = _repeated(lines, at), _distances(lines, at)
            distances |= agreed
            gone = [
                page
                for number, page in lines.items()
                if page
                and (_key(page[at]) in repeated or any(number - n in agreed for n, _ in _printed_numbers(page[at])))
            ]
            if not gone:
                break
            for page in gone:
                page.pop(at)
    stripped = ["\n".join(page).strip("\n") for page in lines.values()]
    emptied = sum(bool(before.strip()) and not after.strip() for before, after in zip(pages, stripped, strict=True))
    return Stripped(list(pages) if emptied * 2 > len(pages) else stripped, frozenset(distances))


def _repeated(pages: Mapping[int, Lines], at: int) -> set[str]:
    """The outermost lines (`at` 0: first, -1: last) that stand on most pages, or on most of one stretch."""
    places = grouped((key, number) for number, page in pages.items() if page and (key := _key(page[at])))
    everywhere = set()
    for key, where in places.items():
        n, span = len(where), max(where) - min(where) + 1
        stretch = n >= FEWEST_WITH_WORDS and n >= STRETCH_SHARE * span
        if n >= FEWEST and (stretch or n >= REPEATED_SHARE * len(pages)):
            everywhere.add(key)
    return everywhere


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
    found = set()
    for distance, said in words.items():
        fewest = max(FEWEST_WITH_WORDS if any(said) else FEWEST, NUMBERED_SHARE * len(pages))
        if len(said) >= fewest and len(set(said)) <= MOST_DISTINCT * len(said):
            found.add(distance)
    return found


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


EXCERPT = 160
"""Characters of a page that are shown."""

FEWEST_CHARACTERS = 40
FEWEST_LETTERS = 0.25
"""Of the characters that are not white: tables of numbers have fewer than prose, and more than this."""

FEWEST_LINES, LONELY_SHARE = 10, 0.4
FEWEST_RUINS, RUINED_SHARE = 5, 0.02
FEWEST_WORDS = 5

_RUIN = re.compile(
    r"-(?:(?<=[^\W\d_]-)\n|(?<=[^\W\d_]{2}-) (?=[a-zà-öø-ÿ]{2,})(?!(?:and|or|und|oder|et|ou|y|o|to|bis)\b))"
)
"""A word that stays broken at a line end, or was joined with the space left in it; looked for by its hyphen."""


class SuspiciousPage(Record):
    """A line of `suspicious-pages.jsonl`: what looks wrong on a page of a document of `n_pages`, and how it begins."""

    doc: str
    page: int
    n_pages: int
    reasons: tuple[str, ...]
    excerpt: str


def suspicious_pages(pages: Sequence[Page]) -> Iterator[SuspiciousPage]:
    """Those of the cleaned pages that something is wrong with, in their order. A page without text is none of them.

    That a page has too few words is said only where it is not the only one of its document.
    """
    n_pages = Counter(page.doc for page in pages)
    for page in pages:
        doc, n = page.doc, n_pages[page.doc]
        if reasons := tuple(_reasons(page.text, alone=n == 1)):
            excerpt = " ".join(page.text.split())[:EXCERPT]
            yield SuspiciousPage(doc=doc, page=page.page, n_pages=n, reasons=reasons, excerpt=excerpt)


def _reasons(text: str, *, alone: bool) -> Iterator[str]:
    squeezed = "".join(text.split())
    if not squeezed:
        return
    words = re.findall(r"\w+", text)
    if len(words) < FEWEST_WORDS and not alone:
        yield f"{len(words)} words"
    if found := mojibake(text):
        yield f"letters of another encoding: {found}"
    if why := fault(text):
        yield why
    letters = sum(n for character, n in Counter(squeezed).items() if unicodedata.category(character)[0] in "LM")
    if len(squeezed) >= FEWEST_CHARACTERS and letters < FEWEST_LETTERS * len(squeezed):
        yield "hardly a letter"
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    lonely = sum(len(line) == 1 for line in lines)
    if len(lines) >= FEWEST_LINES and lonely > LONELY_SHARE * len(lines):
        yield f"{lonely} of {len(lines)} lines are one character long"
    ruins = len(_RUIN.findall(text))
    if ruins >= FEWEST_RUINS and ruins > RUINED_SHARE * len(words):
        yield f"{ruins} words are broken by hyphens"
