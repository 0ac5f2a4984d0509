"""What is wrong with a question's own text: nothing in it, garbage, a model's words, or leaning on a text not shown."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from typing import NamedTuple

from ragassay.text import plain

from ..looks import form_of
from ..questions.reject import shape_of, tokens_of

RUN = 8
"""Words in a row from which on a question is a copy."""
RUN_OF_MOST, MOST = 5, 0.75
"""As well as this many, where they are this share of its words; not of keywords, which a text may well have so."""
RUN_OF_ALL, FEWEST_CONTENT = 5, 9
"""And this many where all of its content words, at least nine, stand in one window of 200 words."""
WIDE = 0.4
"""Words that a pair of characters counts as in scripts without spaces: eight words are twenty characters."""

_WIDE = ("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"), ("\u3040", "\ud7af")


class Overlap(NamedTuple):
    """What a question shares with one passage. run: words in a row (of scripts without spaces, 0.4 for each character).

    share: of its words that are in the run, 0 to 1. shared: of its content words (stems) that stand in the passage, 0
    to 1. n_content: how many it has. words: the run itself. keywords: whether it is a phrase for a search box.
    """

    run: float
    share: float
    shared: float
    n_content: int
    words: str
    keywords: bool

    @property
    def copied(self) -> bool:
        """Whether it passes one of the three bars (docs/check.md has what they were measured on)."""
        most = self.run >= RUN_OF_MOST and self.share >= MOST and not self.keywords
        all_of_it = self.run >= RUN_OF_ALL and self.n_content >= FEWEST_CONTENT and self.shared >= 1
        return self.run >= RUN or most or all_of_it


def overlap(question: str, passage: str, language: str) -> Overlap:
    """What a question shares with a passage. language: ISO 639, for stems."""
    asked, there = tokens_of(question), tokens_of(passage)
    text, phrase = ([token.casefold() for token in tokens] for tokens in (there, asked))
    match = SequenceMatcher(None, text, phrase, autojunk=False).find_longest_match()
    run = asked[match.b : match.b + match.size]
    words = ""  # of the run as they stood, overlapping pairs of characters made one again
    for before, token in zip(["", *run], run, strict=False):
        wide = is_wide(token)
        overlaps = wide and is_wide(before) and before[-1] == token[0]
        words += token[1:] if overlaps else token if wide or not words else f" {token}"
    content = shape_of(question, language).content
    n_wide = sum(map(is_wide, content))
    shared = len(content & shape_of(passage, language).content) / len(content) if content else 0.0
    length, n_content = _length(run), len(content) - n_wide + round(WIDE * n_wide)
    share = length / _length(asked) if asked else 0.0
    return Overlap(length, share, shared, n_content, words, form_of(question) == "keywords")


def is_wide(token: str) -> bool:
    """Whether a token is of a script without spaces."""
    return any(low <= token[0] <= high for low, high in _WIDE) if token else False


def _length(tokens: list[str]) -> float:
    """In words: pairs of characters overlap, and count as WIDE each."""
    return sum(WIDE if is_wide(token) else 1.0 for token in tokens)


_FOREIGN = re.compile(r"[^\x00-\x7f]{2,}")
_LEADS = "ÂÃâÐÑØÙ"
"""What the first bytes of sequences are in cp1252; in cp1251 they are РСГ."""
_KNOWN = re.compile("锟斤拷|烫烫烫|屯屯屯|ï¿½|ĂŠ|â€[™œ˜¦“”\x9d\x9c]")
"""What replacement characters and memory without content become, and the commonest of what else is seen."""
_SURE = re.compile("[\u00a0-\u00ff\u0400-\u045f\u0600-\u06ff\u2010-\u203a\u20ac]")
"""What one such sequence is enough of; of other letters, which chance may spell as well, it takes two."""


def mojibake(text: str) -> str | None:
    """The letters of `text` that are another encoding's, with what they were meant to be; None where none are.

    A run of letters beyond ASCII is held to be garbled where its bytes, in the code page that it was read by, are valid
    UTF-8, and fewer characters of it; not a letter before a closing mark (`CAFÉ”`). A single pair decides only where it
    becomes a letter of Latin-1, Cyrillic or Arabic or a typographic sign.
    """
    if known := _KNOWN.search(text):
        return f"“{known.group()}”"
    found = [(run, meant) for run in _FOREIGN.findall(text) if (meant := _meant(run))]
    n = sum(len(meant) for _, meant in found)
    if n >= 2 or any(_SURE.match(meant) and run[0] in f"{_LEADS}РСГ" for run, meant in found):
        return f"“{found[0][0]}”, which was “{found[0][1]}”"
    return None


def _meant(run: str) -> str | None:
    """What the bytes of a run are in UTF-8, where that has fewer characters; what cp1252 leaves undefined stands for
    itself, as browsers read it."""
    if unicodedata.category(run[1])[0] in "PZ" and run[0] not in _LEADS:
        return None  # a letter before a mark, which no second byte of its would be
    for page in ("cp1252", "cp1251"):
        own = range(0x80, 0xA0) if page == "cp1252" else ()
        try:
            meant = b"".join(bytes([ord(char)]) if ord(char) in own else char.encode(page) for char in run).decode()
        except UnicodeError:
            continue
        if len(meant) < len(run) and all(unicodedata.category(char)[0] in "LNPSZM" for char in meant):
            return meant
    return None


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
"""Words of four small Latin letters at least, of which three, and most, without a vowel make no words."""


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
    words, unspoken = _LATIN_SMALL.findall(folded), _UNSPEAKABLE.findall(folded)
    return "its letters make no words" if len(unspoken) >= 3 and 2 * len(unspoken) > len(words) else None


_ONE = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK", "BOPOMOFO": "CJK", "IDEOGRAPHIC": "CJK"}


def scripts_of(texts: Iterable[str]) -> Counter[str]:
    """How many letters of each script there are; the scripts of Japanese and Chinese are one."""
    letters = Counter[str]()
    for text in texts:
        letters.update(char for char in text if char.isalpha())
    found = Counter[str]()
    for letter, n in letters.items():
        name = unicodedata.name(unicodedata.normalize("NFKC", letter)[0], "OTHER").split(" ")[0]
        found[_ONE.get(name, name)] += n
    return found


def other_script(text: str, corpus: Mapping[str, int]) -> str | None:
    """The script of most of its letters, where hardly a letter of the corpus is of it; None otherwise."""
    own, total = scripts_of([text]), sum(corpus.values())
    if total < FEWEST_LETTERS or own.total() < 4:
        return None
    script, n = own.most_common(1)[0]
    return script if 2 * n > own.total() and corpus.get(script, 0) < PRESENT * total else None
