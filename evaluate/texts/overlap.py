"""Texts that share characters or words: ROUGE of two, and what one of them says again, in a row or anywhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from ragassay.arrays import Ints
from ragassay.errors import MissingExtra

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
    """The loop over the most characters, its stretch said `at_least` times; numbers of lists and spaces apart.

    A stretch of p characters is said in a row where each character is the one p places before. Tried are the distances
    at which parts of WINDOW characters most often come again, so that the time grows with the text's length.
    """
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


class Repeat(NamedTuple):
    """A part of a text, and how often it stands there without overlap, counted from the left; "" and 0: none."""

    text: str
    times: int


def longest_repeat(text: str) -> Repeat:
    """The longest such part, of equally long ones the first in the text.

    By the ranks of all substrings of one length, doubled as in Karp, Miller and Rosenberg (1972, "Rapid identification
    of repeated patterns in strings, trees and arrays"): O(n log² n) with numpy's sorting, no text is a bad case.
    """
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


ROUGES = ("rouge1", "rouge2", "rougeL")
_WORD = re.compile(r"[^\W_]+")


class Words:
    """The tokenizer that rouge-score is given."""

    def tokenize(self, text: str) -> list[str]:
        """The words of a text."""
        return list(_words(text))


@lru_cache(maxsize=16)
def _words(text: str) -> tuple[str, ...]:
    """Kept for a while: rouge-score asks for those of both texts again."""
    return tuple(_WORD.findall(text.lower()))


def check_at_hand() -> None:
    """Raises MissingExtra where rouge-score is not installed. Loads nothing: with it come NLTK and scikit-learn."""
    if find_spec("rouge_score") is None:
        raise MissingExtra("ROUGE needs rouge_score, which", "local")


def rouge(one: str, other: str) -> dict[str, float | None]:
    """The F1 of each of `ROUGES`, 0 to 1, whichever text comes first.

    ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries") by Google's
    rouge-score, without stemming. Its own words are runs of a to z and 0 to 9; ours are runs of letters and digits of
    any script, in lower case, which for English is the same.
    None where it is undefined: both texts without a word, or for ROUGE-2 both without a pair of words.
    """
    scorer, words = _scorer(), Words()
    first, second = words.tokenize(one), words.tokenize(other)
    found = {name: float(score.fmeasure) for name, score in scorer.score(one, other).items()}
    found["rougeL"] = _f1(longest_common_subsequence(first, second), len(first), len(second))
    longest = max(len(first), len(second))
    least = {"rouge1": 1, "rouge2": 2, "rougeL": 1}
    return {name: found[name] if longest >= least[name] else None for name in ROUGES}


def longest_common_subsequence(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words it has: each row of the table is one whole number with a bit for each word of `one`.

    Hyyrö's algorithm (2004, "Bit-parallel LCS-length computation revisited"): rouge-score's table takes gigabytes of
    long texts.
    """
    at: dict[str, int] = {}
    for place, word in enumerate(one):
        at[word] = at.get(word, 0) | 1 << place
    whole = (1 << len(one)) - 1
    row = whole
    for word in other:
        if matches := row & at.get(word, 0):
            row = (row + matches | row - matches) & whole
    return len(one) - row.bit_count()


def _f1(common: int, n_one: int, n_other: int) -> float:
    precision, recall = common / max(n_other, 1), common / max(n_one, 1)
    return 2 * precision * recall / (precision + recall) if common else 0.0


@lru_cache(maxsize=1)
def _scorer() -> Any:
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ModuleNotFoundError as error:
        raise MissingExtra(f"ROUGE needs {error.name}, which", "local") from None
    return RougeScorer(["rouge1", "rouge2"], tokenizer=Words())
