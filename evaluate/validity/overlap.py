"""What a question shares with a text: its content words, and the longest run of words that stand there just so."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from .questions import Reading

SHARED, RUN, RUN_SHARE = "shared", "run", "run_share"


class Overlap(NamedTuple):
    """shared: of the question's content words, 0 to 1. run: the longest common n-gram in words, two characters of a
    script without spaces counting as one. run_share: of the question's words, 0 to 1."""

    shared: float
    run: float
    run_share: float


def overlap(question: str, text: str, reading: Reading) -> Overlap:
    """Of a question with a text; nothing with an empty one."""
    content, asked, there = reading.content(question), reading.words(question), reading.words(text)
    shared = len(content & reading.content(text)) / len(content) if content else 0.0
    at, size = _longest_run(asked, there)
    return Overlap(shared, _length(asked[at : at + size]), _length(asked[at : at + size]) / max(1.0, _length(asked)))


def _longest_run(asked: Sequence[str], there: Sequence[str]) -> tuple[int, int]:
    match = SequenceMatcher(None, there, asked, autojunk=False).find_longest_match()
    return match.b, match.size


def _length(words: Sequence[str]) -> float:
    return sum(0.5 if len(word) == 1 and _wide(word) else 1.0 for word in words)


def _wide(character: str) -> bool:
    """Whether it is of a script that is written without spaces, or of Hangul, which readers cut likewise."""
    return unicodedata.category(character) == "Lo" and unicodedata.name(character, "").startswith(_SCRIPTS)


_SCRIPTS = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "MYANMAR", "KHMER")
