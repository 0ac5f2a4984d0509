"""Whether two questions ask the same in nearly the same words: word overlap, with names held apart.

Broder 1997, "On the resemblance and containment of documents": the resemblance of two sets is their Jaccard index.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

THRESHOLD = Fraction(4, 5)
"""Two questions are near-duplicates from this Jaccard index of their content words on: 4 of 5 words shared."""

_WIDE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_WIDE}]+|(?:(?![{_WIDE}])[\w'’])+")
_NAME = re.compile(r"\d|_|.[A-Z]")

_FUNCTION_WORD_LIST = """
    a an and are as at be been being but by can could did do does doing during for from had has have how i if in into is
    it its may me might my must of on one or our shall should so some such than that the their them then there these
    they this those to us was we were what when where which while who whom whose why will with would you your
    aber als am an auf aus bei bin bis das dass dem den der des die dies ein eine einem einen einer eines er es für
    gibt haben hat ich ihr im in ist kann können man mein mit nach oder sich sie sind um und vom von wann warum was
    welche welchem welchen welcher welches wenn wer werden wie wieso wird wir wo worden wurde zu zum zur über
    au aux avec ce ces cette comme comment d dans de des du elle en est et il ils je l la le les leur lorsque ma mes
    mon nous on ou où par pour pourquoi puis quand que quel quelle quelles quels qui s sa se ses son sont sur un une
    vous à
    al como con cuando cuál cuáles cómo cuándo de del desde donde dónde el ella en entre es esta este esto está han hay
    la las lo los me mi o para pero por porque puede pueden puedo qué que quién se ser si son su sus un una y
    ao aos as com como da das de do dos e em entre essa esse esta este eu foi há isso isto já mas meu minha na nas no
    nos o onde os ou para pela pelo pode podem por porque posso qual quais quando quem que se seu sua são um uma é
    """
FUNCTION_WORDS = frozenset(_FUNCTION_WORD_LIST.split())
"""Words that carry no content in questions in English, German, French, Spanish and Portuguese; "not" is content."""


class Stemmer(Protocol):
    """What PyStemmer offers."""

    def stemWord(self, word: str) -> str: ...


@dataclass(frozen=True)
class Shape:
    """What is compared of a question: its content words, stemmed; all its words; and those that name a thing."""

    content: frozenset[str]
    words: frozenset[str]
    names: frozenset[str]


def shape_of(text: str, language: str) -> Shape:
    """The shape of a question. `language` (ISO 639) chooses the stemmer; a language without one is not stemmed.

    Scripts without spaces are cut into pairs of characters. A name is a word with a digit, an underscore or a capital
    after its first letter (`UART1`, `sei_now`, `avrGcc`).
    """
    tokens = tokens_of(text)
    words = frozenset(token.casefold() for token in tokens)
    content = frozenset(content_of(words, language))
    names = frozenset(token.casefold() for token in tokens if _NAME.search(token))
    return Shape(content or words, words, names)


def tokens_of(text: str) -> list[str]:
    """The words of a text in their order; scripts without spaces are cut into pairs of characters."""
    return [token for word in _WORD.findall(unicodedata.normalize("NFKC", text)) for token in _pieces(word)]


def words_of(text: str) -> list[str]:
    """The words of a text in their order, in small letters; scripts without spaces are cut into characters."""
    found = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return [part for word in found for part in (word if re.match(rf"[{_WIDE}]", word) else [word.strip("'’_") or word])]


def content_of(words: Iterable[str], language: str) -> list[str]:
    """The stems of those words, in small letters, that carry content."""
    stem = _stemmer(language)
    return [stem.stemWord(word) if stem else word for word in words if word not in FUNCTION_WORDS]


def similarity(one: Shape, other: Shape) -> Fraction:
    """The Jaccard index of the content words, 0 to 1; 0 where one question names a thing that the other does not."""
    if not (one.names <= other.words and other.names <= one.words):
        return Fraction(0)
    union = len(one.content | other.content)
    return Fraction(len(one.content & other.content), union) if union else Fraction(0)


class Seen:
    """Questions seen so far, with a name for each, to hold a new one against."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._shapes: list[tuple[str, Shape]] = []
        self._by_word: defaultdict[str, list[int]] = defaultdict(list)

    def add(self, name: str, text: str) -> None:
        """Remember a question under a name."""
        shape = shape_of(text, self._language)
        for word in shape.content:
            self._by_word[word].append(len(self._shapes))
        self._shapes.append((name, shape))

    def nearest(self, text: str) -> str | None:
        """The name of the most similar question at or above THRESHOLD, the earliest of equals; None without one."""
        shape = shape_of(text, self._language)
        shared = Counter(index for word in shape.content for index in self._by_word.get(word, ()))
        near = [
            (-similarity(shape, self._shapes[index][1]), index)
            for index, count in shared.items()
            if count >= THRESHOLD * len(shape.content)
        ]
        best = min(near, default=(Fraction(0), -1))
        return self._shapes[best[1]][0] if -best[0] >= THRESHOLD else None


def _pieces(word: str) -> list[str]:
    if re.match(rf"[{_WIDE}]", word) and len(word) > 2:
        return [word[start : start + 2] for start in range(len(word) - 1)]
    return [word.strip("'’_") or word]


@functools.cache
def _stemmer(language: str) -> Stemmer | None:
    import Stemmer as snowball

    try:
        stemmer: Stemmer = snowball.Stemmer(language.split("-")[0].lower())
    except KeyError:
        return None
    return stemmer
