"""How BM25 reads texts and weighs terms: the analyzer by name, the stop words, k1 and b."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Literal

from ragassay.errors import InputError
from ragassay.files import read_text
from ragassay.text import plain

from .analysis import Analyzer, language_code, make_analyzer
from .bm25 import K1, B
from .lucene_english import STOP_WORDS, make_lucene_english

AnalyzerName = Literal["by-language", "lucene-english"]
"""Ours (`analysis`), or Lucene's EnglishAnalyzer to the letter."""


@dataclass(frozen=True)
class Lexical:
    """What shapes BM25's ranking. stop_words: a file of words, one a line, in place of the analyzer's own.

    k1 is 0 or more, b from 0 to 1. Making one raises InputError where they are not.
    """

    analyzer: AnalyzerName = "by-language"
    stop_words: Path | None = None
    k1: float = K1
    b: float = B

    def __post_init__(self) -> None:
        if not (isfinite(self.k1) and self.k1 >= 0):
            raise InputError(f"k1 is {self.k1:g}", remedy="give 0 or more")
        if not 0 <= self.b <= 1:
            raise InputError(f"b is {self.b:g}", remedy="give a number from 0 to 1")

    def make_analyzer(self, language: str) -> Analyzer:
        """The analyzer. Raises InputError for an unknown language, for one that is not English under a name that says
        so, and for a file that holds no stop words."""
        words = None if self.stop_words is None else read_stop_words(self.stop_words)
        if self.analyzer == "by-language":
            return make_analyzer(language, stop_words=words)
        if language_code(language) != "en":
            raise InputError(f"{self.analyzer} is for English, and the language is '{plain(language)}'")
        return make_lucene_english(STOP_WORDS if words is None else words)


def read_stop_words(path: Path) -> frozenset[str]:
    """The words of a file, one a line, in lower case; an empty line is none. Raises InputError with the line."""
    words: set[str] = set()
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if len(parts := line.split()) > 1:
            raise InputError(f"has {len(parts)} words, stop words stand one a line", file=path, line=number)
        words.update(word.lower() for word in parts)
    if not words:
        raise InputError("holds no stop words", file=path, remedy="write one a line")
    return frozenset(words)
