"""English text to terms by the rules of Lucene's EnglishAnalyzer, which Anserini's BM25 baselines use, too.

StandardTokenizer (the word boundaries of Unicode Annex 29; tokens of more than 255 characters are cut), the possessive
filter, lower case, 33 stop words, and PorterStemFilter: Porter's own program (tartarus.org/martin/PorterStemmer), which
departs from his paper, and so from Snowball's `porter`, in two endings (-bli, -logi) and leaves words of one or two
letters alone. Emoji made of several others are several terms here.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Collection, Sequence
from functools import cache
from itertools import pairwise

from .analysis import Analyzer

_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this"
    " to was will with"
)
STOP_WORDS = frozenset(_WORDS.split())
"""EnglishAnalyzer.ENGLISH_STOP_WORDS_SET of Apache Lucene (Apache-2.0)."""

LONGEST = 255

_MID_LETTER = ":\u00b7\u0387\u055f\u05f4\u2027\ufe13\ufe55\uff1a"
_MID_BOTH = ".'\u2018\u2019\u2024\ufe52\uff07\uff0e"
_MID_NUMBER = ",;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b"
_CONNECTORS = "_\u203f\u2040\u2054\ufe33\ufe34\ufe4d\ufe4e\ufe4f\uff3f"
_ALONE = "\u3005-\u3007\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Ideographs and hiragana: each character is a token."""
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_SOUTHEAST_ASIAN = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0eff\u1000-\u109f\u1780-\u17dd"
"""Thai, Lao, Burmese and Khmer; a run of these is a token, as one of katakana is."""
_PICTOGRAPHS = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2194-\u2199\u21a9-\u21aa\u231a-\u231b\u2328\u2388\u23cf\u23e9-\u23f3\u23f8-\u23fa"
    "\u25aa-\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u2605\u2607-\u2612\u2614-\u2685\u2690-\u2705\u2708-\u2712\u2714\u2716"
    "\u271d\u2721\u2728\u2733-\u2734\u2744\u2747\u274c\u274e\u2753-\u2755\u2757\u2763-\u2767\u2795-\u2797\u27a1\u27b0"
    "\u27bf\u2934-\u2935\u2b05-\u2b07\u2b1b-\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001f0ff\U0001f18e"
    "\U0001f191-\U0001f19a\U0001f300-\U0001f3fa\U0001f400-\U0001f53d\U0001f546-\U0001f64f\U0001f680-\U0001f6ff"
    "\U0001f90c-\U0001f93a\U0001f93c-\U0001f945\U0001f947-\U0001faff"
)
"""Unicode's Extended_Pictographic: emoji and the like, © and ™ among them."""

_DEPARTING = re.compile(r"(.*)(bl|log)(?:i|y|is|ys|ies|ied|iing|yed|ying)")
"""Words that are in -bli or -logi after the first step of the stemmer."""


def make_lucene_english(stop_words: Collection[str] = STOP_WORDS) -> Analyzer:
    """The analyzer; `stop_words` (in lower case, as they are before stemming) take the place of Lucene's."""
    stop = frozenset(map(sys.intern, stop_words))

    def analyze(texts: Sequence[str]) -> list[list[str]]:
        terms = _TermOfToken(stop, _porter())
        return [[term for token in tokens(text) if (term := terms[token])] for text in texts]

    return analyze


def tokens(text: str) -> list[str]:
    """StandardTokenizer's tokens, in their order."""
    found = _pattern(ascii_only=text.isascii()).findall(text)
    whole = [token for token in found if token.strip(_CONNECTORS)]
    if all(len(token) <= LONGEST for token in whole):
        return whole
    return [token[i : i + LONGEST] for token in whole for i in range(0, len(token), LONGEST)]


class _TermOfToken(dict[str, str]):
    """The term of each token, worked out when it is first met; empty for a stop word."""

    def __init__(self, stop: frozenset[str], stem: Callable[[str], str]) -> None:
        super().__init__()
        self._stop, self._stem = stop, stem

    def __missing__(self, token: str) -> str:
        word = _without_possessive(token).lower()
        self[token] = term = "" if word in self._stop else self._stem(word)
        return term


def _without_possessive(token: str) -> str:
    return token[:-2] if len(token) > 1 and token[-1] in "sS" and token[-2] in "'\u2019\uff07" else token


def _porter() -> Callable[[str], str]:
    import Stemmer

    stem: Callable[[str], str] = Stemmer.Stemmer(
        "porter"
    ).stemWord  # made anew for each call: it may not be shared between threads

    def stem_as_porters_program(word: str) -> str:
        if len(word) <= 2:
            return word
        if (found := _DEPARTING.fullmatch(word)) and _measure(found[1]) > 0:
            word = found[1] + {"bl": "ble", "log": "log"}[found[2]]
        return stem(word)

    return stem_as_porters_program


def _measure(stem: str) -> int:
    """Porter's m: how many runs of vowels a run of consonants follows; a y is a vowel after a consonant."""
    kinds: list[bool] = []
    for letter in stem:
        kinds.append(letter in "aeiou" or (letter == "y" and bool(kinds) and not kinds[-1]))
    return sum(one and not other for one, other in pairwise(kinds))


@cache
def _pattern(*, ascii_only: bool) -> re.Pattern[str]:
    """Letters, digits and connectors; between two letters or two digits a mark that may stand there."""
    no_digits, extending = ("", "") if ascii_only else _others()
    apart = "" if ascii_only else _ALONE + _KATAKANA + _SOUTHEAST_ASIAN
    letter, extend = rf"[^\W\d_{no_digits}{apart}]", f"[{extending}]*" if extending else ""
    unit = rf"(?:(?:{letter}|\d|[{_CONNECTORS}]){extend})"
    after_letter = f"(?:(?<={letter})|(?<=[{extending}]))" if extending else f"(?<={letter})"
    between = f"{after_letter}[{_MID_LETTER}{_MID_BOTH}]{extend}(?={letter})"
    between += rf"|(?<=\d)[{_MID_NUMBER}{_MID_BOTH}]{extend}(?=\d)"
    kinds = [f"{unit}+(?:(?:{between}){unit}+)*"]
    if not ascii_only:
        kinds += [f"[{_ALONE}{_PICTOGRAPHS}]{extend}"]
        kinds += [f"(?:[{run}]{extend})+" for run in (_KATAKANA, _SOUTHEAST_ASIAN)]
    return re.compile("|".join(kinds))


@cache
def _others() -> tuple[str, str]:
    """For use inside a character class: digits that are none to Annex 29 (², ½), and what extends the one before."""
    kinds = {chr(point): unicodedata.category(chr(point)) for point in range(0x80, 0x1F200)}
    digits = "".join(character for character, kind in kinds.items() if kind == "No")
    marks = [
        character for character, kind in kinds.items() if kind[0] == "M" or (kind == "Cf" and character != "\u200b")
    ]
    return digits, "".join(marks) + "\U0001f3fb-\U0001f3ff"
