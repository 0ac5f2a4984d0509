"""What is wrong with a question's own text: nothing in it, garbage, a model's words, or leaning on a text not shown."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

from ragassay.text import plain

from ..questions.reject import machine_words
from ..questions.stand_alone import leans_on
from .mojibake import mojibake

PRESENT = 0.01
"""Share of a corpus's letters from which on a script is one of the corpus."""
FEWEST_LETTERS = 200
"""Letters of a corpus (and 4 of a question) below which scripts are not compared."""

_BROKEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufffd\ue000-\uf8ff\ud800-\udfff\u202d\u202e\U000f0000-\U0010ffff]"
)
_LOST = re.compile(r"\w{2,}\?{2,}\w|\w\?{2,}\w{2,}|(?:\?{2,}[ ,.;]+){2,}")
_GLYPHS = re.compile(r"\(cid:\d+\)|(?:/[A-Za-z]{1,6}\d{1,5}\s?){4,}")
_APART = re.compile(r"(?<!\w)(?:[^\W\d_] ){5,}[^\W\d_](?!\w)")
_UNSPEAKABLE = re.compile(r"(?<![\w-])(?=[a-z]{4,})[^aeiouyäöüáéíóúàèâêîôû\W\d_]+(?![\w-])")
_LATIN_SMALL = re.compile(r"(?<![\w-])[a-z\u00df-\u00ff]{4,}(?![\w-])")


def is_empty(text: str) -> bool:
    """Whether there is no letter and no digit in it."""
    return not any(map(str.isalnum, text))


def garbled(text: str) -> str | None:
    """How a question's characters are garbage, in words; None where they are not."""
    folded = " ".join(text.replace("\ufeff", "").split())
    if broken := _BROKEN.search(folded):
        return f"has the character U+{ord(broken.group()):04X}, which stands for no letter"
    if found := mojibake(folded):
        return f"has letters of another encoding: {plain(found)}"
    if lost := _LOST.search(folded):
        return f"has question marks for letters: “{lost.group().strip()}”"
    if glyphs := _GLYPHS.search(folded):
        return f"has names of glyphs for letters: “{glyphs.group().strip()[:40]}”"
    if 2 * sum(map(len, _APART.findall(folded))) > len(folded):
        return "its words fall apart into letters"
    return _no_words(folded)


def _no_words(text: str) -> str | None:
    """Small Latin letters, three words of four letters at least, most of which have no vowel."""
    words = _LATIN_SMALL.findall(text)
    unspoken = _UNSPEAKABLE.findall(text)
    return "its letters make no words" if len(unspoken) >= 3 and 2 * len(unspoken) > len(words) else None


def model_talk(text: str) -> str | None:
    """The words of it that pass between a model and its user; None without any."""
    return machine_words(" ".join(text.split()))


def leaning(text: str) -> str | None:
    """The words by which it leans on a text that its reader does not have; None where it stands alone."""
    return leans_on(" ".join(text.split()))


def scripts_of(texts: Iterable[str]) -> Counter[str]:
    """How many letters of each script there are; the scripts of Japanese and Chinese are one."""
    letters = Counter[str]()
    for text in texts:
        letters.update(char for char in text if char.isalpha())
    found = Counter[str]()
    for letter, n in letters.items():
        found[_script(letter)] += n
    return found


def other_script(text: str, corpus: Mapping[str, int]) -> str | None:
    """The script of most of its letters, where hardly a letter of the corpus is of it; None otherwise."""
    own, total = scripts_of([text]), sum(corpus.values())
    if total < FEWEST_LETTERS or own.total() < 4:
        return None
    script, n = own.most_common(1)[0]
    return script if 2 * n > own.total() and corpus.get(script, 0) < PRESENT * total else None


_ONE = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK", "BOPOMOFO": "CJK", "IDEOGRAPHIC": "CJK"}


def _script(letter: str) -> str:
    name = unicodedata.name(unicodedata.normalize("NFKC", letter)[0], "OTHER").split(" ")[0]
    return _ONE.get(name, name)
