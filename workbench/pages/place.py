"""Where a stretch of a page's text stands among the characters that PDFium finds on it.

The text was read by whichever reader, without furniture, its words made whole and its characters made plain, and in its
order; PDFium's characters have boxes. Both are brought down to letters and digits. What occurs once in both is the same
place, wherever it stands (columns may come in another order); what lies between two such places is aligned in order.
What has no counterpart stays without a place: a box is never guessed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

ONCE = (32, 16, 8)
"""Lengths in letters: what occurs once in both texts, longest first."""

NEAR = 400
"""A place of the shortest length counts only this near to where its neighbours stand, in letters."""

LARGEST_GAP = 250_000
"""What is aligned in order between two places: the letters of one text times those of the other, at most."""

ENOUGH = 0.9
"""The share of a stretch's letters from which it counts as placed."""

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Placed:
    """boxes: one a line of the stretch, (x0, y0, x1, y1) as the characters' are. share: of its letters that have a
    place, 0 to 1; None where it has none at all."""

    boxes: tuple[Box, ...]
    share: float | None

    @property
    def found(self) -> bool:
        """Whether enough of it has a place for the boxes to be shown."""
        return self.share is not None and self.share >= ENOUGH


@dataclass(frozen=True)
class Letters:
    """A text's letters and digits without case, accents and ligatures, and which character each is of."""

    text: str
    of: tuple[int, ...]


def letters_of(text: str) -> Letters:
    """The letters and digits of a text."""
    found = [
        (letter, index)
        for index, character in enumerate(text)
        for letter in unicodedata.normalize("NFKD", character).casefold()
        if letter.isalnum()
    ]
    return Letters("".join(letter for letter, _ in found), tuple(index for _, index in found))


class Alignment:
    """A page's text and PDFium's characters of it, each letter of the one with its place in the other."""

    def __init__(self, page: str, characters: str, boxes: Sequence[Sequence[int] | None]) -> None:
        self._page, drawn = letters_of(page), letters_of(characters)
        self._boxes = [boxes[index] for index in drawn.of]
        self._places = align(self._page.text, drawn.text)

    def placed(self, start: int, end: int) -> Placed:
        """Where the characters `start` to `end` of the page's text stand."""
        places = [p for p, index in zip(self._places, self._page.of, strict=True) if start <= index < end]
        there = sorted(place for place in places if place is not None)
        boxes = [box for place in there if (box := self._boxes[place]) is not None]
        return Placed(tuple(lines_of(boxes)), len(boxes) / len(places) if places else None)


def align(one: str, other: str) -> list[int | None]:
    """For each letter of `one` its place in `other`, or None."""
    places: list[int | None] = [None] * len(one)
    taken = [False] * len(other)
    for length in ONCE:
        while _anchor(one, other, places, taken, length):
            pass
    _fill(one, other, places, taken)
    return places


def _anchor(one: str, other: str, places: list[int | None], taken: list[bool], length: int) -> bool:
    """Give a place to what, of the letters that have none, occurs once in both; whether there was any."""
    here = _once(one, [place is not None for place in places], length)
    there = _once(other, taken, length)
    more = False
    for gram, at in here.items():
        to = there.get(gram)
        if to is None or places[at] is not None or taken[to]:
            continue
        if length == ONCE[-1] and not _is_near(places, at, to):
            continue
        more = True
        for step in (-1, 1):
            i, j = (at, to) if step > 0 else (at - 1, to - 1)
            while 0 <= i < len(one) and 0 <= j < len(other) and one[i] == other[j] and places[i] is None:
                if taken[j]:
                    break
                places[i], taken[j] = j, True
                i, j = i + step, j + step
    return more


def _once(text: str, has: Sequence[bool], length: int) -> dict[str, int]:
    """Each run of `length` letters without a place that occurs once among them, and where it begins."""
    found: dict[str, int] = {}
    twice: set[str] = set()
    free = 0
    for end, taken in enumerate(has, 1):
        free = 0 if taken else free + 1
        if free >= length:
            gram = text[end - length : end]
            if gram in found:
                twice.add(gram)
            found[gram] = end - length
    return {gram: at for gram, at in found.items() if gram not in twice}


def _is_near(places: Sequence[int | None], at: int, to: int) -> bool:
    """Whether a letter beside it that has a place has one that is near."""
    near = [places[i] for i in range(max(at - NEAR, 0), min(at + NEAR, len(places)))]
    return any(place is not None and abs(place - to) <= NEAR for place in near)


def _fill(one: str, other: str, places: list[int | None], taken: list[bool]) -> None:
    """Align in order what has no place between two letters that have, where these stand in the same order."""
    for first, last in list(_gaps(places)):
        before = places[first - 1] if first else None
        after = places[last] if last < len(places) else None
        room = last - first + 40
        low = before + 1 if before is not None else max((after or 0) - room, 0)
        high = after if after is not None else min(low + room, len(other))
        if (before is None and after is None) or low >= high or (last - first) * (high - low) > LARGEST_GAP:
            continue
        matcher = SequenceMatcher(None, one[first:last], other[low:high], autojunk=False)
        for i, j, size in matcher.get_matching_blocks():
            for step in range(size):
                if not taken[low + j + step]:
                    places[first + i + step], taken[low + j + step] = low + j + step, True


def _gaps(places: Sequence[int | None]) -> Iterator[tuple[int, int]]:
    """Each stretch of letters without a place."""
    first = None
    for index, place in enumerate([*places, 0]):
        if place is None and first is None:
            first = index
        elif place is not None and first is not None:
            yield first, index
            first = None


def lines_of(boxes: Sequence[Sequence[int]]) -> Iterator[Box]:
    """Characters' boxes, in PDFium's order, joined where one stands beside the other on a line."""
    line: Box | None = None
    for x0, y0, x1, y1 in boxes:
        if line is not None and _on_line(line, (x0, y0, x1, y1)):
            line = (min(line[0], x0), min(line[1], y0), max(line[2], x1), max(line[3], y1))
        else:
            if line is not None:
                yield line
            line = (x0, y0, x1, y1)
    if line is not None:
        yield line


def _on_line(line: Box, box: Box) -> bool:
    shared = min(line[3], box[3]) - max(line[1], box[1])
    height = min(line[3] - line[1], box[3] - box[1])
    return 2 * shared > height and line[0] <= box[0] < line[2] + 4 * height
