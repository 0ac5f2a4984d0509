"""A document's text: its kept pages' cleaned texts joined by newlines, and where its pages and headings stand in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from synth.pdf_readers import OutlineEntry

MOST_LINES_OF_A_HEADING = 3


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

    def page_start(self, index: int) -> int:
        """The offset at which the page with this index in `pages` begins."""
        return self._starts[index]

    @cached_property
    def stretches(self) -> list[tuple[int, int]]:
        """(start, end) of each stretch of consecutive pages, without blank space at its ends; empty ones left out."""
        stretches: list[tuple[int, int]] = []
        first = 0
        for index in range(1, len(self.pages) + 1):
            if index == len(self.pages) or self.pages[index][0] != self.pages[index - 1][0] + 1:
                stretches.append((self._starts[first], self._starts[index - 1] + len(self.pages[index - 1][1])))
                first = index
        trimmed = (trim(self.text, start, end) for start, end in stretches)
        return [(start, end) for start, end in trimmed if start < end]

    @cached_property
    def headings(self) -> list[Heading]:
        """The outline's entries in the order of the text; one whose words are not found stands where its page begins.

        Entries that point to pages left out are left out too.
        """
        indexes = {number: index for index, (number, _) in enumerate(self.pages)}
        found = []
        for order, entry in enumerate(self.outline):
            index, title = indexes.get(entry.page), " ".join(entry.title.split())
            if index is not None and title:
                within = heading_line(self.pages[index][1], title)
                found.append((self._starts[index] + (within or 0), order, entry.level, title))
        return [Heading(start, level, title) for start, _, level, title in sorted(found)]

    def title_at(self, offset: int) -> str:
        """The nearest heading at or before `offset`, behind the one above it: "Sleep modes > Idle". "" for none."""
        reached = bisect_right([heading.start for heading in self.headings], offset)
        if not reached:
            return ""
        nearest = self.headings[reached - 1]
        above = next((h for h in reversed(self.headings[: reached - 1]) if h.level < nearest.level), None)
        return f"{above.title} > {nearest.title}" if above else nearest.title


def heading_line(page: str, title: str) -> int | None:
    """Where on the page the line (or up to three lines) stands that is the title, a number before it aside."""
    wanted = _squashed(title)
    lines = list(re.finditer(r"[^\n]+", page))
    for index, line in enumerate(lines):
        for count in range(1, MOST_LINES_OF_A_HEADING + 1):
            together = _squashed(page[line.start() : lines[min(index + count, len(lines)) - 1].end()])
            if wanted and together.endswith(wanted) and re.fullmatch(r"(chapter|appendix)?[a-z]?\d*", together[: -len(wanted)]):
                return line.start()
            if len(together) > len(wanted) + 20:
                break
    return None


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The same stretch without white space at its ends, except for the indentation of its first line."""
    stretch = text[start:end]
    if not stretch.strip():
        return start, start
    blank = len(stretch) - len(stretch.lstrip())
    return start + blank, start + len(stretch.rstrip())


def _squashed(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def heading_starts(headings: Sequence[Heading]) -> set[int]:
    """The offsets at which headings begin."""
    return {heading.start for heading in headings}
