"""Places of queries in the test set as a part of an address: `3,17-20,4` is 3, 17, 18, 19, 20, 4, in this order."""

from __future__ import annotations

import re
from collections.abc import Iterable

MOST = 2000
"""Places that an address may name; browsers and servers cut longer ones."""

_PART = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


def written(places: Iterable[int]) -> str:
    """The places, runs of consecutive ones as `first-last`."""
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][1] + 1:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    return ",".join(f"{first}-{last}" if last > first else f"{first}" for first, last in runs)


def read(text: str) -> list[int]:
    """The places that `text` names, each once and at most `MOST`; what is not of the form is passed over."""
    found: dict[int, None] = {}
    for part in text.split(","):
        if match := _PART.fullmatch(part):
            first = int(match[1])
            last = min(int(match[2] or first), first + MOST)
            found |= dict.fromkeys(range(first, last + 1))
        if len(found) >= MOST:
            break
    return list(found)[:MOST]
