"""Text to terms, as Lucene's analyzers do it: words, stop words and stems by language, bigrams for unspaced scripts.

A word is a Unicode word with its combining marks; an apostrophe or a full stop between letters and a full stop or a
comma between digits do not end it (Unicode Annex 29), nor does an underscore, so that `pgm_read_byte` and `io.h` are
one term each. Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese text becomes overlapping pairs of characters.
English is stemmed by Porter's algorithm as in Lucene's EnglishAnalyzer, other languages by their Snowball stemmer.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ragassay.errors import InputError
from ragassay.text import plain

T = TypeVar("T")

Analyzer = Callable[[Sequence[str]], list[list[str]]]
"""Texts to the terms of each, in their order, repeated as often as they occur."""

# Language code to Snowball's algorithm and the name that bm25s gives its stop words.
_STEMMED = {
    "ar": ("arabic", None), "ca": ("catalan", None), "cs": ("czech", None), "da": ("danish", "DANISH"),
    "de": ("german", "GERMAN"), "el": ("greek", None), "en": ("porter", "EN"), "eo": ("esperanto", None),
    "es": ("spanish", "SPANISH"), "et": ("estonian", None), "eu": ("basque", None), "fa": ("persian", None),
    "fi": ("finnish", None), "fr": ("french", "FRENCH"), "ga": ("irish", None), "hi": ("hindi", None),
    "hu": ("hungarian", None), "hy": ("armenian", None), "id": ("indonesian", None), "it": ("italian", "ITALIAN"),
    "lt": ("lithuanian", None), "nb": ("norwegian", "NORWEGIAN"), "ne": ("nepali", None), "nl": ("dutch", "DUTCH"),
    "nn": ("norwegian", "NORWEGIAN"), "no": ("norwegian", "NORWEGIAN"), "pl": ("polish", None),
    "pt": ("portuguese", "PORTUGUESE"), "ro": ("romanian", None), "ru": ("russian", "RUSSIAN"),
    "sr": ("serbian", None), "st": ("sesotho", None), "sv": ("swedish", "SWEDISH"), "ta": ("tamil", None),
    "tr": ("turkish", "TURKISH"), "yi": ("yiddish", None),
}  # fmt: skip

_UNSTEMMED = (
    "aa ab ae af ak am an as av ay az ba be bg bh bi bm bn bo br bs ce ch co cr cu cv cy dv dz ee ff fj fo fy gd gl gn"
    " gu gv ha he ho hr ht hz ia ie ig ii ik io is iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li"
    " ln lo lu lv mg mh mi mk ml mn mr ms mt my na nd ng nr nv ny oc oj om or os pa pi ps qu rm rn rw sa sc sd se sg"
    " si sk sl sm sn so sq ss su sw te tg th ti tk tl tn to ts tt tw ty ug uk ur uz ve vi vo wa wo xh yo za zh zu"
)

_ELISIONS = {
    "ca": "d l m n s t",
    "fr": "c d j jusqu l lorsqu m n puisqu qu quoiqu s t",
    "ga": "b d m",
    "it": "agl all c coll d dagl dall degl dell gl l m negl nell pell s sugl sull t un v",
}

_UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0eff\u1000-\u109f\u1780-\u17dd\u1100-\u11ff\u3005-\u3007\u3041-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u3131-\u318e\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)


def language_code(language: str) -> str:
    """`language` ("en", "pt-BR", "english") as a two-letter ISO 639-1 code. Raises InputError where it is none."""
    code = re.split(r"[-_]", language.strip().lower())[0]
    names = {stemmer: code for code, (stemmer, _) in sorted(_STEMMED.items())} | {"english": "en"}
    code = names.get(code, code)
    if code not in _STEMMED and code not in _UNSTEMMED.split():
        raise InputError(
            f"corpus.language: '{plain(language)}' is not a language code", remedy='use a two-letter one such as "en"'
        )
    return code


def make_analyzer(language: str, *, stem: bool = True, stop_words: Collection[str] | None = None) -> Analyzer:
    """The analyzer of a language; one without a Snowball stemmer keeps its words as they are. Raises InputError.

    stem: whether words are stemmed where there is a stemmer. stop_words: in place of the language's, in lower case.
    """
    code = language_code(language)
    stop = _stop_words(_STEMMED.get(code, (None, None))[1]) if stop_words is None else frozenset(stop_words)

    def analyze(texts: Sequence[str]) -> list[list[str]]:
        stemmed = _stemmer(code) if stem else str
        terms = _OfEach(lambda word: tuple(stemmed(part) for part in _parts(word, code) if part not in stop))
        rows = []
        for text in texts:
            folded = _folded(text, code)
            words = _pattern(_is_unspaced(text), marked=_is_marked(folded)).findall(folded)
            rows.append([term for word in words for term in terms[word]])
        return rows

    return analyze


class _OfEach(dict[str, T]):
    """What becomes of each word, worked out when it is first met."""

    def __init__(self, work_out: Callable[[str], T]) -> None:
        super().__init__()
        self._work_out = work_out

    def __missing__(self, word: str) -> T:
        self[word] = found = self._work_out(word)
        return found


def _stemmer(code: str) -> Callable[[str], str]:
    if code not in _STEMMED:
        return str
    import Stemmer

    stem = Stemmer.Stemmer(_STEMMED[code][0]).stemWord  # made anew for each call: it may not be shared between threads
    return lambda word: stem(word) or word  # Snowball leaves nothing of a lone "s": such a word stays as it is


def _parts(word: str, code: str) -> Iterator[str]:
    if _is_unspaced(word):
        yield from (word[i : i + 2] for i in range(max(1, len(word) - 1)))
    elif kept := _without_affix(word, code):
        yield kept


def _folded(text: str, code: str) -> str:
    """Ligatures and widths unfolded, soft hyphens out, one kind of apostrophe, lower case."""
    text = unicodedata.normalize("NFKC", text).replace("\u00ad", "").replace("\u2019", "'")
    if code in {"tr", "az"}:
        text = text.replace("I", "ı").replace("İ", "i")
    return text.lower()


def _without_affix(word: str, code: str) -> str:
    """`word` without the English possessive, an elided article (l'avion) or what Turkish adds after an apostrophe."""
    head, apostrophe, tail = word.partition("'")
    if not apostrophe:
        return word
    if code == "en":
        return word.removesuffix("'s")
    if code == "tr":
        return head
    return tail if head in _ELISIONS.get(code, "").split() else word


def _is_unspaced(text: str) -> bool:
    return not text.isascii() and re.search(f"[{_UNSPACED}]", text) is not None


def _is_marked(text: str) -> bool:
    """Whether there is one of `_marks`: they are many, and most text has none."""
    return not text.isascii() and any(unicodedata.category(one)[0] == "M" or one in "\u200c\u200d" for one in set(text))


@cache
def _pattern(unspaced: bool, *, marked: bool) -> re.Pattern[str]:
    """A word; where the text has unspaced script, a run of that script or a word of any other."""
    character = rf"[\w{_marks()}]" if marked else r"\w"
    word = rf"(?:(?![{_UNSPACED}]){character})+" if unspaced else f"{character}+"
    letters, digits = r"(?<=[^\W\d_])['.](?=[^\W\d_])", r"(?<=\d)['.,;](?=\d)"
    whole = rf"{word}(?:(?:{letters}|{digits}){word})*"
    return re.compile(f"[{_UNSPACED}]+|{whole}" if unspaced else whole)


@cache
def _marks() -> str:
    """Every combining mark and the two joiners, which `\\w` leaves out, for use inside a character class."""
    marks = (chr(point) for point in range(0x300, 0x1F000) if unicodedata.category(chr(point))[0] == "M")
    return "".join(marks) + "\u200c\u200d"


@cache
def _stop_words(name: str | None) -> frozenset[str]:
    if name is None:
        return frozenset()
    from bm25s import stopwords

    return frozenset(sys.intern(word) for word in getattr(stopwords, f"STOPWORDS_{name}"))


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
    """The analyzer by the rules of Lucene's EnglishAnalyzer, which Anserini's BM25 baselines use, too.

    StandardTokenizer (the word boundaries of Unicode Annex 29; tokens of more than 255 characters are cut), the
    possessive filter, lower case, 33 stop words, and PorterStemFilter: Porter's own program
    (tartarus.org/martin/PorterStemmer), which departs from his paper, and so from Snowball's `porter`, in two endings
    (-bli, -logi) and leaves words of one or two letters alone. Emoji made of several others are several terms here.
    `stop_words` (in lower case, as they are before stemming) take the place of Lucene's.
    """
    stop = frozenset(map(sys.intern, stop_words))

    def analyze(texts: Sequence[str]) -> list[list[str]]:
        stem = _porter()

        def term_of(token: str) -> str:
            possessive = len(token) > 1 and token[-1] in "sS" and token[-2] in "'\u2019\uff07"
            word = (token[:-2] if possessive else token).lower()
            return "" if word in stop else stem(word)

        terms = _OfEach(term_of)
        return [[term for token in tokens(text) if (term := terms[token])] for text in texts]

    return analyze


def tokens(text: str) -> list[str]:
    """StandardTokenizer's tokens, in their order."""
    found = _lucene_english_pattern(ascii_only=text.isascii()).findall(text)
    whole = [token for token in found if token.strip(_CONNECTORS)]
    if all(len(token) <= LONGEST for token in whole):
        return whole
    return [token[i : i + LONGEST] for token in whole for i in range(0, len(token), LONGEST)]


def _porter() -> Callable[[str], str]:
    import Stemmer

    # made anew for each call: it may not be shared between threads
    stem: Callable[[str], str] = Stemmer.Stemmer("porter").stemWord

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
def _lucene_english_pattern(*, ascii_only: bool) -> re.Pattern[str]:
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
    marks = "".join(one for one, kind in kinds.items() if kind[0] == "M" or (kind == "Cf" and one != "\u200b"))
    return digits, f"{marks}\U0001f3fb-\U0001f3ff"


_EXACT = 255 - 231
"""The byte holds 231 floats of four significant bits (those up to 2**31 - 1), and so 24 whole numbers before them."""


def rounded_lengths(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """SmallFloat.byte4ToInt(SmallFloat.intToByte4(length)) of Apache Lucene, for each of the lengths (passages,).

    From 24 on, what is above 24 keeps its four highest bits. The mean length that BM25 divides by stays exact.
    """
    beyond = np.maximum(lengths - _EXACT, 0)
    bits = np.zeros_like(beyond)
    bits[beyond > 0] = np.floor(np.log2(beyond[beyond > 0])).astype(np.int64) + 1
    shift = np.maximum(bits - 4, 0)
    kept: npt.NDArray[np.int64] = np.where(lengths < _EXACT, lengths, _EXACT + ((beyond >> shift) << shift))
    return kept
