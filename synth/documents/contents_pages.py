"""Tables of contents, lists of figures and indexes: lines that only say on which page something stands.

They name every subject of a document and explain none, so a retriever would find them for any question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

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

    `numbers` are the pages' places in the file, `distances` how far the printed page numbers may lie behind them.
    """
    found = dict(zip(numbers, map(_squashed, pages), strict=True))
    last = max(numbers, default=0)
    stripped = []
    for number, page in zip(numbers, pages, strict=True):
        lines = [line for line in page.split("\n") if line.strip()]
        if _is_title_list(lines, found, distances | {0}) or _is_index(lines, number, last):
            stripped.append("")
        else:
            stripped.append(_without_leaders(page))
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
    stand = sum(any(_squashed(title) in found.get(page + d, "") for d in distances) for title, page in titles)
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


def _squashed(text: str) -> str:
    """Letters and digits alone, in small letters: titles are set with other spaces and marks than their entries."""
    return "".join(filter(str.isalnum, text)).casefold()
