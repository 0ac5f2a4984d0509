"""Loops that models fall into, made of a text's own words: a sentence, a phrase, a word, a character, or all of it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from benchmarks.judges.faults.planting import UNSPACED

Loop = Callable[[str, str, random.Random], str]
"""From a text and its language the text with the loop behind it."""


def _sentence(text: str, language: str, chance: random.Random) -> str:
    found = [
        one for one in re.split(r"(?<=[.!?\u061f\u0964])\s+|(?<=[\u3002\uff01\uff1f])|\n+", text) if len(one) >= 15
    ]
    return chance.choice(found or [text])


def _words(text: str, language: str, chance: random.Random, n: int) -> str:
    """`n` words, or twice as many characters of a language without spaces."""
    if language in UNSPACED:
        letters = re.findall(r"\w", text)
        start = chance.randrange(max(1, len(letters) - 2 * n))
        return "".join(letters[start : start + 2 * n])
    parts = text.split()
    start = chance.randrange(max(1, len(parts) - n))
    return " ".join(parts[start : start + n])


def _again(piece: Callable[[str, str, random.Random], str], times: int, joint: str | None = None) -> Loop:
    def loop(text: str, language: str, chance: random.Random) -> str:
        between = joint if joint is not None else "" if language in UNSPACED else " "
        return text + between + between.join([piece(text, language, chance)] * times)

    return loop


def _phrase(text: str, language: str, chance: random.Random) -> str:
    return _words(text, language, chance, 4)


def _word(text: str, language: str, chance: random.Random) -> str:
    return _words(text, language, chance, 1)


def _whole(text: str, language: str, chance: random.Random) -> str:
    return text


def _counted(text: str, language: str, chance: random.Random) -> str:
    """One sentence in a list whose numbers go on."""
    one = _sentence(text, language, chance)
    return text + "".join(f"\n{number}. {one}" for number in range(1, 21))


LOOPS: dict[str, Loop] = {
    "a sentence, 5 times": _again(_sentence, 5),
    "a sentence, 10 times": _again(_sentence, 10),
    "a sentence, 30 times": _again(_sentence, 30),
    "a sentence on lines, 10 times": _again(_sentence, 10, "\n"),
    "a sentence in a numbered list, 20 times": _counted,
    "four words, 30 times": _again(_phrase, 30),
    "four words, 100 times": _again(_phrase, 100),
    "a word, 100 times": _again(_word, 100),
    "a word, 400 times": _again(_word, 400),
    "a character, 500 times": lambda text, language, chance: text + chance.choice("!-.哈ا") * 500,
    "all of it, twice more": _again(_whole, 2, "\n\n"),
    "all of it, five times more": _again(_whole, 5, "\n\n"),
}
"""By what is said again."""
