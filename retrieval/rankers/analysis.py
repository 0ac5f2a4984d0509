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

from ragassay.errors import InputError
from ragassay.text import plain

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
        terms = _TermsOfWords(code, stop, _stemmer(code) if stem else str)
        return [[term for word in _words(text, code) for term in terms[word]] for text in texts]

    return analyze


class _TermsOfWords(dict[str, tuple[str, ...]]):
    """The terms of each word, worked out when it is first met."""

    def __init__(self, code: str, stop: frozenset[str], stem: Callable[[str], str]) -> None:
        super().__init__()
        self._code, self._stop, self._stem = code, stop, stem

    def __missing__(self, word: str) -> tuple[str, ...]:
        self[word] = terms = tuple(self._stem(part) for part in _parts(word, self._code) if part not in self._stop)
        return terms


def _stemmer(code: str) -> Callable[[str], str]:
    if code not in _STEMMED:
        return str
    import Stemmer

    stem = Stemmer.Stemmer(_STEMMED[code][0]).stemWord  # made anew for each call: it may not be shared between threads
    return lambda word: stem(word) or word  # Snowball leaves nothing of a lone "s": such a word stays as it is


def _words(text: str, code: str) -> list[str]:
    folded = _folded(text, code)
    return _pattern(_is_unspaced(text), ascii_only=folded.isascii()).findall(folded)


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


@cache
def _pattern(unspaced: bool, *, ascii_only: bool) -> re.Pattern[str]:
    """A word; where the text has unspaced script, a run of that script or a word of any other.

    ASCII text has no marks, and is gone through several times as fast when none is looked for.
    """
    character = r"\w" if ascii_only else rf"[\w{_marks()}]"
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
