"""Whether the text that a reader gave for a page can be what the page says: signs of garbage, in any script.

No dictionary is needed: characters that stand for nothing, words glued together or broken apart, letters in reversed
order, and letters that no language strings together so. What is too short to be judged is taken as sound.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from .scripts import COMBINING, HARD, RIGHT_TO_LEFT, SPACED

FEWEST_CHARACTERS = 40
FEWEST_WORDS = 30
FEWEST_ODD = 2

UNMAPPED_SHARE = 0.1
GLYPH_NAME_SHARE = 0.02
GLUED_LETTERS, GLUED_SHARE = 25, 0.5
LETTERS_APART, APART_SHARE = 5, 0.5
BROKEN_SHARE = 0.02
REVERSED_SHARE = 0.1
MOJIBAKE_SHARE = 0.6
LOWER_SHARE = 0.05
SPOKEN_SHARE, DECODED_SHARE = 0.15, 0.85
"""Of the Latin words of three letters and more, those with a vowel beside a consonant: prose has 0.95, register tables
0.5, assembler 0.2."""

JUDGED = 1000
"""In characters: how much of a page's Latin words is looked at."""

PLEASE_WAIT_LENGTH = 1500
"""In characters: a longer page that says "Please wait…" is a text."""

_UNMAPPED = re.compile("[\x00\x01\x03-\x08\x0b\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf8df\uf8ff\U000f0000-\U0010ffff]")
"""Not U+0002, a hyphen in PDFium's text, and not U+F8E0 to U+F8FE, the pieces of TeX's large brackets."""

_GLYPH_NAMES = re.compile(r"(?:/[A-Za-z]{0,6}\d{1,5}\s?){4,}|(?:\(cid:\d+\)\s?){2,}")
_PLEASE_WAIT = ("Please wait...", "Please wait…", "is not eventually replaced")

_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]{3,}")
_SPOKEN = re.compile(r"[aeiouyà-öø-ÿ][^aeiouyà-öø-ÿ]|[^aeiouyà-öø-ÿ][aeiouyà-öø-ÿ]", re.IGNORECASE)
_GLYPH_NUMBERS = {number: chr(number + 29) for number in range(3, 94)}
"""What the numbers of glyphs in most TrueType fonts stand for: a font without Unicode shows them as letters."""
_LETTER = re.compile(f"[^\\W\\d_]|[{COMBINING}]")
_LATIN_1 = re.compile("[\u00a1-\u00ff]")
_PUNCTUATION = re.compile(r"[.,;:!?()\[\]{}«»\"'“”‘’،؛؟।۔\d-]+")

_GLUED = re.compile(f"[{SPACED}]{{{GLUED_LETTERS},}}")
_APART = re.compile(f"(?<![{SPACED}])(?:[{SPACED}] ){{{LETTERS_APART - 1},}}[{SPACED}](?![{SPACED}])")
_COMBINING_WORD = re.compile(f"[{COMBINING}\u200c\u200d]+")
_INSERTED = re.compile(f"[{COMBINING}]/?[0-9]{{1,2}}[{COMBINING}]")

_RIGHT_TO_LEFT_WORD = re.compile(f"[{RIGHT_TO_LEFT}]{{3,}}")
_RIGHT_TO_LEFT_LINE = re.compile(f"^.*[{RIGHT_TO_LEFT}]", re.MULTILINE)
_STOP_FIRST = re.compile(f"^ *[.,،؛] *[{RIGHT_TO_LEFT}]", re.MULTILINE)
_ARABIC_AHEAD = re.compile("^(?:و|ب|ك|ف)?ال..|[ةى]$")
_ARABIC_REVERSED = re.compile("^[ةى]|..لا[وبكف]$")
_HEBREW_AHEAD, _HEBREW_REVERSED = re.compile("[ךםןףץ]$"), re.compile("^[ךםןףץ]")


def fault(text: str) -> str | None:
    """What is wrong with the text of a page, in words, and None where nothing is seen. `text` is as it was read."""
    length = len("".join(text.split()))
    if length < PLEASE_WAIT_LENGTH and any(words in text for words in _PLEASE_WAIT):
        return "it says only “Please wait…”, as XFA forms do; print the form into a PDF with Adobe Reader"
    if length < FEWEST_CHARACTERS:
        return None
    if len(_UNMAPPED.findall(text)) > UNMAPPED_SHARE * length:
        return "its characters stand for no letters"
    if _glyph_names(text) > APART_SHARE * length:
        return "its letters come out as names of glyphs"
    return _words_fault(text, length) or _latin_fault(text) or (_order_fault(text) if HARD.search(text) else None)


def _glyph_names(text: str) -> int:
    """How many characters of the text are names of glyphs; looked for only where there are marks of some."""
    if text.count("/") + text.count("(cid:") < GLYPH_NAME_SHARE * len(text):
        return 0
    return sum(map(len, _GLYPH_NAMES.findall(text)))


def _words_fault(text: str, length: int) -> str | None:
    if sum(map(len, _GLUED.findall(text))) > GLUED_SHARE * length:
        return "its words run together"
    if 3 * text.count(" ") > length and sum(map(len, _APART.findall(text))) > 2 * APART_SHARE * length:
        return "its words fall apart into letters"
    return None


def _latin_fault(text: str) -> str | None:
    words = _LATIN_WORD.findall(text, 0, JUDGED)
    if len(words) >= FEWEST_WORDS and ((spoken := _spoken(words)) < SPOKEN_SHARE or _are_glyph_numbers(text, spoken)):
        return "its letters make no words"
    if text.isascii() or len(latin_1 := _LATIN_1.findall(text)) < FEWEST_CHARACTERS:
        return None
    strange = len(latin_1) > MOJIBAKE_SHARE * len(_LETTER.findall(text))
    return "its letters are those of another encoding" if strange else None


def _are_glyph_numbers(text: str, spoken: float) -> bool:
    """Whether what looks like capital letters makes words when it is taken for numbers of glyphs."""
    beginning = text[:JUDGED]
    if 4 * sum(map(str.islower, beginning[::4])) > LOWER_SHARE * len(beginning):
        return False
    decoded = _spoken(_LATIN_WORD.findall(beginning.translate(_GLYPH_NUMBERS)))
    return decoded > max(DECODED_SHARE, spoken + SPOKEN_SHARE)


def _spoken(words: Sequence[str]) -> float:
    return sum(map(bool, map(_SPOKEN.search, words))) / max(1, len(words))


def _order_fault(text: str) -> str | None:
    """Letters that stand in the wrong order, or marks that stand apart from their letters."""
    words = _COMBINING_WORD.findall(text)
    odd = sum(unicodedata.category(word[0]).startswith("M") for word in words) + len(_INSERTED.findall(text))
    if odd >= FEWEST_ODD and odd > BROKEN_SHARE * len(words):
        return "its vowel signs stand apart from their letters"
    ahead, reversed_ = letter_order(text)
    if reversed_ >= FEWEST_ODD and reversed_ > REVERSED_SHARE * (ahead + reversed_):
        return "its words are spelt backwards"
    lines = len(_RIGHT_TO_LEFT_LINE.findall(text))
    if len(_STOP_FIRST.findall(text)) > REVERSED_SHARE * lines:
        return "its clauses stand in reversed order"
    return None


def letter_order(text: str) -> tuple[int, int]:
    """How many words of Arabic and Hebrew show that they are (in order, spelt backwards); others do not show it.

    Told by the letters that stand only at the end of a word, by the article, and by forms that join to one side.
    """
    ahead = backwards = 0
    for word in _RIGHT_TO_LEFT_WORD.findall(text):
        plain = unicodedata.normalize("NFKC", word)
        first, last = (unicodedata.decomposition(letter).partition(" ")[0] for letter in (word[0], word[-1]))
        in_order = bool(_ARABIC_AHEAD.search(plain) or _HEBREW_AHEAD.search(plain)) or (first, last) in _JOINED_AHEAD
        wrong = bool(_ARABIC_REVERSED.search(plain) or _HEBREW_REVERSED.search(plain))
        wrong = wrong or (first, last) in _JOINED_BACKWARDS
        ahead, backwards = ahead + (in_order and not wrong), backwards + wrong
    return ahead, backwards


_JOINED_AHEAD = {("<initial>", last) for last in ("<final>", "<isolated>", "")}
_JOINED_BACKWARDS = {(first, last) for first in ("<final>", "<medial>") for last in ("<initial>", "<isolated>", "")}


def letters_of(text: str) -> Counter[str]:
    """How often each letter and each sign that combines stands in a text; forms of letters are the letters."""
    return Counter(_LETTER.findall(unicodedata.normalize("NFKC", text)))


def words_of(text: str) -> Counter[str]:
    """How often each word stands in a text, without punctuation and digits."""
    return Counter(_PUNCTUATION.sub(" ", unicodedata.normalize("NFKC", text)).split())


def alike(one: Counter[str], other: Counter[str]) -> float:
    """How much two counts share, from 0 to 1 (Dice): the agreement of two readings, whatever their order."""
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0
