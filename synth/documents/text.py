"""A document's text: its kept pages' cleaned texts joined by newlines, and where its pages and headings stand in it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ..pdf.readers import OutlineEntry
from .cut_points import Stretch, cut
from .page_text import clean_characters

MOST_LINES_OF_A_HEADING = 3

Span = tuple[int, int]
"""Where a piece of a document's text begins and ends, in characters; it begins and ends with none that is white."""

_NUMBERING = re.compile(r"(chapter|appendix)?[a-z]?\d*")


class Heading(NamedTuple):
    """A heading: where its line begins in the document's text, its depth (1 is the top), and its title."""

    start: int
    level: int
    title: str


@dataclass(frozen=True)
class DocumentText:
    """The text of one document. `pages` are (number, cleaned text), ascending, without the excluded pages."""

    doc: str
    pages: tuple[tuple[int, str], ...]
    outline: tuple[OutlineEntry, ...] = ()

    @cached_property
    def text(self) -> str:
        """What `start` and `end` of sections and passages count in, in characters."""
        return "\n".join(text for _, text in self.pages)

    @cached_property
    def _starts(self) -> list[int]:
        starts, at = [], 0
        for _, text in self.pages:
            starts.append(at)
            at += len(text) + 1
        return starts

    def page_at(self, offset: int) -> int:
        """The number of the page on which the character at `offset` stands."""
        return self.pages[bisect_right(self._starts, offset) - 1][0]

    def page_start(self, number: int) -> int:
        """The offset at which the page with this number begins; the text's length where there is no such page."""
        index = bisect_left(self.pages, number, key=lambda page: page[0])
        found = index < len(self.pages) and self.pages[index][0] == number
        return self._starts[index] if found else len(self.text)

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """Each stretch of consecutive pages that has text, with its words and the places between them."""
        ends: list[tuple[int, int]] = []
        first = 0
        for index in range(1, len(self.pages) + 1):
            if index == len(self.pages) or self.pages[index][0] != self.pages[index - 1][0] + 1:
                ends.append((self._starts[first], self._starts[index - 1] + len(self.pages[index - 1][1])))
                first = index
        headings = frozenset(self.heading_starts)
        stretches = (cut(self.text, start, end, headings) for start, end in ends)
        return tuple(stretch for stretch in stretches if stretch.spans)

    @cached_property
    def headings(self) -> tuple[Heading, ...]:
        """The outline's entries in the order of the text; one whose words are not found stands where its page begins.

        Entries that point to pages left out are left out too.
        """
        indexes = {number: index for index, (number, _) in enumerate(self.pages)}
        found, taken = [], dict[tuple[int, str], int]()
        for order, entry in enumerate(self.outline):
            index, title = indexes.get(entry.page), " ".join(clean_characters(entry.title).split())
            if index is not None and title:
                behind = taken.get((index, title), -1)
                within = heading_line(self.pages[index][1], title, behind)
                taken[index, title] = behind if within is None else within
                within = max(behind, 0) if within is None else within
                found.append((self._starts[index] + within, order, entry.level, title))
        return tuple(Heading(start, level, title) for start, _, level, title in sorted(found))

    @cached_property
    def heading_starts(self) -> tuple[int, ...]:
        """The offsets at which headings begin, ascending."""
        return tuple(heading.start for heading in self.headings)

    def title_at(self, offset: int) -> str:
        """The nearest heading at or before `offset`, behind the one above it: "Sleep modes > Idle". "" for none."""
        reached = bisect_right(self.heading_starts, offset)
        if not reached:
            return ""
        nearest = self.headings[reached - 1]
        above = next((h for h in reversed(self.headings[: reached - 1]) if h.level < nearest.level), None)
        return f"{above.title} > {nearest.title}" if above else nearest.title


def heading_line(page: str, title: str, behind: int = -1) -> int | None:
    """Where on the page, behind an offset, the line (or up to three lines) is the title, a number before it aside."""
    wanted = _squashed(title)
    lines = list(re.finditer(r"[^\n]+", page))
    for index, line in enumerate(lines):
        if line.start() <= behind:
            continue
        for count in range(1, MOST_LINES_OF_A_HEADING + 1):
            together = _squashed(page[line.start() : lines[min(index + count, len(lines)) - 1].end()])
            if wanted and together.endswith(wanted) and _NUMBERING.fullmatch(together[: -len(wanted)]):
                return line.start()
            if len(together) > len(wanted) + 20:
                break
    return None


def _squashed(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()
