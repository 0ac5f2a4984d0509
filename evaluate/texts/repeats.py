"""The longest part of a text that stands in it at least twice without overlap.

By the ranks of all substrings of one length, doubled as in Karp, Miller and Rosenberg (1972, "Rapid identification of
repeated patterns in strings, trees and arrays"): O(n log² n) with numpy's sorting, no text is a bad case.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragassay.arrays import Ints


class Repeat(NamedTuple):
    """A part of a text, and how often it stands there without overlap, counted from the left; "" and 0: none."""

    text: str
    times: int


def longest_repeat(text: str) -> Repeat:
    """The longest such part, of equally long ones the first in the text."""
    if len(text) < 2:
        return Repeat("", 0)
    length, start = _longest(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64))
    part = text[start : start + length]
    return Repeat(part, text.count(part)) if part else Repeat("", 0)


def _longest(letters: Ints) -> tuple[int, int]:
    """(length, start), 0 and 0 where nothing repeats: the highest power of two that does, then the bits below it.

    What repeats at a length repeats at every shorter one, so that each bit can be tried by itself.
    """
    powers: list[Ints] = []
    ranks, length, start = _dense(letters), 1, 0
    while (found := _apart(ranks, length)) is not None:
        powers, start = [*powers, ranks], found
        if 4 * length > len(letters):
            break
        ranks, length = _joined(ranks, length, ranks), 2 * length
    if not powers:
        return 0, 0
    ranks, length = powers[-1], 1 << len(powers) - 1
    for bit in range(len(powers) - 2, -1, -1):
        more = length + (1 << bit)
        if (
            2 * more <= len(letters)
            and (found := _apart(tried := _joined(ranks, length, powers[bit]), more)) is not None
        ):
            ranks, length, start = tried, more, found
    return length, start


def _joined(first: Ints, length: int, second: Ints) -> Ints:
    """The ranks of substrings put together of one of `first` (of this length) and the one of `second` behind it."""
    n = min(len(first), len(second) - length)
    return _dense(first[:n] * (int(second.max()) + 1) + second[length : length + n])


def _dense(keys: Ints) -> Ints:
    """(n,): equal keys get equal ranks from 0."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    ranks = np.empty(len(keys), dtype=np.int64)
    ranks[order] = np.concatenate(([0], np.cumsum(ordered[1:] != ordered[:-1])))
    return ranks


def _apart(ranks: Ints, length: int) -> int | None:
    """The first start of a substring that begins again `length` places later or more; None where there is none."""
    n, places = int(ranks.max()) + 1, np.arange(len(ranks))
    last = np.zeros(n, dtype=np.intp)
    last[ranks] = places
    far = np.flatnonzero(last[ranks] - places >= length)
    return int(far[0]) if len(far) else None
