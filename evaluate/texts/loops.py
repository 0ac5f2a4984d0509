"""A stretch that a text says again and again right behind itself, whatever its script.

A stretch of p characters is said in a row where each character is the one p places before. Tried are the distances at
which parts of WINDOW characters most often come again, so that the time grows with the text's length.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

import numpy as np

WINDOW = 24
"""Characters of the parts whose distances are tried."""

_TRIED = 8
_NUMBER = re.compile(r"^\s*(?:\(?\d{1,3}[.)]|[-*+\u2022])\s+", re.MULTILINE)


class Loop(NamedTuple):
    """What is said in a row, how often, and over how many characters; "" and 0: nothing."""

    text: str
    times: int
    length: int


NOTHING = Loop("", 0, 0)


def longest_loop(text: str, at_least: int = 3) -> Loop:
    """The loop over the most characters, its stretch said `at_least` times; numbers of lists and spaces apart."""
    bare = re.sub(r"\s+", " ", _NUMBER.sub("", text)).strip()
    found = (_loop(bare, period, at_least) for period in _distances(bare))
    return max(found, key=lambda loop: loop.length, default=NOTHING)


def _distances(text: str) -> list[int]:
    """From each part to the same one before it, the most frequent."""
    last: dict[str, int] = {}
    found: Counter[int] = Counter()
    for place in range(len(text) - WINDOW + 1):
        part = text[place : place + WINDOW]
        if part in last:
            found[place - last[part]] += 1
        last[part] = place
    return [distance for distance, _ in found.most_common(_TRIED)]


def _loop(text: str, period: int, at_least: int) -> Loop:
    letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    breaks = np.flatnonzero(np.concatenate([[True], letters[period:] != letters[:-period], [True]]))
    longest = int(np.argmax(np.diff(breaks)))
    start, length = int(breaks[longest]), int(breaks[longest + 1] - breaks[longest]) - 1 + period
    times = (length + 1) // period  # nothing stands between the last and what follows
    return Loop(text[start : start + period], times, length) if times >= at_least else NOTHING
