"""In which language a text is, as probabilities, by py3langid (Lui and Baldwin 2012, langid.py, ACL P12-3005).

Code, links, citations and words with digits or signs within are left out first: they are in no language. Of a text in
two scripts, Latin words in a text of another script are taken for borrowed ones, and a few words of another script in a
Latin text too; in between it is mixed. So is a text whose longer sentences are surely in two languages.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from ragassay.errors import MissingExtra

from .....texts.sentences import CITATION, CODE, sentences

LONGEST = 20_000
"""Characters of a text that are looked at."""

BORROWED, FEW = 0.6, 0.1
"""From which share of another script the Latin words are borrowed; up to which share its words are."""

_DENSE, _WEIGHT = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL"}), 3
"""Scripts of which a character counts as three letters."""

_SENTENCE, _SURE, _SHARE = 40, 0.95, 0.25
"""Letters that a sentence has to be asked alone, its probability, and a language's share from which a text is mixed."""

_BLOCK = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\b(?:https?://|www\.)\S{1,2000}")
_NO_WORD = re.compile(r"\S*[\d_/\\=<>{}()\[\]@#$%&|*+~^]\S*")


class Unclear(Exception):
    """A text whose language cannot be told; the message says why."""


class Written(NamedTuple):
    """The script of most letters, and the probability of each language that py3langid knows, by its ISO 639 code.

    The Chinese and the Japanese scripts are one, CJK. Nigerian Pidgin counts as English.
    """

    script: str
    languages: Mapping[str, float]

    @property
    def likeliest(self) -> str:
        """The language of the highest probability."""
        return max(self.languages, key=lambda language: self.languages[language])


def written(text: str, least: int) -> Written:
    """In what a text is written.

    Raises Unclear for fewer than `least` letters and for what is mixed, MissingExtra without py3langid.
    """
    words = _of_one_script(prose(text[:LONGEST]))
    if letters(words) < least:
        raise Unclear(f"too short to tell its language ({letters(words)} letters, {least} wanted)")
    scripts: Counter[str] = Counter()
    for sign, times in _signs(words):
        scripts[_script(sign)] += times
    main = scripts.most_common(1)[0][0]
    return Written("CJK" if main in {"HIRAGANA", "KATAKANA"} else main, _ranked(words))


@lru_cache(maxsize=256)
def _ranked(words: str) -> Mapping[str, float]:
    """Kept for a while, as a question comes again with every agent's answer."""
    _check_sentences(words)
    ranked = dict(identifier().rank(words))
    ranked["en"] += ranked.pop("pcm", 0.0)
    return ranked


def prose(text: str) -> str:
    """What of a text is in a language."""
    for form in (_BLOCK, CODE, _LINK, CITATION):
        text = form.sub(" ", text)
    return "\n".join(" ".join(_words(line)) for line in text.splitlines())


def _words(line: str) -> list[str]:
    """The words of a line; of those without a space between them, as in Chinese, what is not code."""
    return [word for word in line.split() if not _NO_WORD.fullmatch(word) or letters(word) > len(word)]


def letters(text: str) -> int:
    """How many letters a text has, those of dense scripts counted thrice."""
    return sum(times * (_WEIGHT if _script(sign) in _DENSE else 1) for sign, times in _signs(text))


def _signs(text: str) -> list[tuple[str, int]]:
    """Each letter of a text and how often it stands there, by first place."""
    return [(sign, times) for sign, times in Counter(text).items() if sign.isalpha()]


@lru_cache(maxsize=4096)
def _script(sign: str) -> str:
    """The first word of its Unicode name, which for letters is the script."""
    return unicodedata.name(sign, "?").split()[0]


def _of_one_script(text: str) -> str:
    """Raises Unclear where neither the Latin letters nor the others are few."""
    if text.isascii():
        return text
    signs = _signs(text)
    latin = sum(times for sign, times in signs if _script(sign) == "LATIN")
    others = letters(text) - latin
    share = others / ((latin + others) or 1)
    if FEW < share < BORROWED:
        raise Unclear("mixed: it is in two scripts")
    of_others = share >= BORROWED
    dropped = [sign for sign, _ in signs if (_script(sign) == "LATIN") == of_others]
    return text.translate(dict.fromkeys(map(ord, dropped))) if dropped else text


def _check_sentences(text: str) -> None:
    """Raises Unclear where sentences that are long enough are surely in more than one language."""
    sizes: Counter[str] = Counter()
    sized = [(letters(sentence), sentence) for sentence in sentences(text)[:100]]
    asked = sorted((one for one in sized if one[0] >= _SENTENCE), reverse=True)
    left = sum(size for size, _ in asked)
    for size, sentence in asked if len(asked) > 1 else ():
        second = sum(n for _, n in sizes.most_common(2)[1:])
        if second + left < _SHARE * (sizes.total() + left):
            return  # whatever the others are in, no second language has its share
        left -= size
        language, probability = identifier().classify(sentence)
        if probability >= _SURE:
            sizes["en" if language == "pcm" else language] += size
    if sum(size >= _SHARE * sizes.total() for size in sizes.values()) > 1:
        raise Unclear(f"mixed: sentences in {' and '.join(sorted(sizes))}")


@lru_cache(maxsize=1)
def identifier() -> Any:
    """py3langid with its own model, loaded when first used. Raises MissingExtra."""
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ModuleNotFoundError:
        raise MissingExtra("language_mismatch needs py3langid, which", "evaluators") from None
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
