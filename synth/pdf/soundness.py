"""Whether the text that a reader gave for a page can be what the page says: signs of garbage, in any script.

By them a whole document is in doubt or not, and of two readers' texts of a page one is the better. No dictionary is
needed: characters that stand for nothing, words glued together or broken apart, letters in reversed
order, and letters that no language strings together so. What is too short to be judged is taken as sound.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .process import PageText
from .readers import ReaderName

SPACED = (
    "A-Za-z\u00c0-\u024f\u0370-\u052f\u0531-\u0587\u05d0-\u05ea"
    "\u0621-\u064a\u0671-\u06d3\u10a0-\u10ff\u1200-\u135a\ufb1d-\ufdff\ufe70-\ufefc"
)
"""Letters of scripts that put spaces between words and have no signs that combine."""

COMBINING = "\u0900-\u0dff\u0e00-\u109f\u1780-\u17ff"
"""Scripts of India and South East Asia, whose vowel signs stand around letters."""

RIGHT_TO_LEFT = "\u0590-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"

RIGHT_TO_LEFT_LETTER = re.compile(f"[{RIGHT_TO_LEFT}]")

HARD = re.compile(f"[{COMBINING}{RIGHT_TO_LEFT}]")
"""Letters that readers are apt to put into a wrong order."""

_SCRIPTS = {
    "Cyrillic": (
        "\u0400-\u052f",
        "ru uk bg be mk kk ky mn tg russian ukrainian bulgarian belarusian macedonian kazakh mongolian",
    ),
    "Greek": ("\u0370-\u03ff\u1f00-\u1fff", "el greek"),
    "Hebrew": ("\u0590-\u05ff\ufb1d-\ufb4f", "he iw yi hebrew yiddish"),
    "Arabic": (
        "\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufefc",
        "ar fa ur ps sd ug ckb arabic persian farsi urdu pashto",
    ),
    "Devanagari": ("\u0900-\u097f", "hi mr ne sa hindi marathi nepali sanskrit"),
    "Bengali": ("\u0980-\u09ff", "bn as bengali assamese"),
    "Tamil": ("\u0b80-\u0bff", "ta tamil"),
    "Telugu": ("\u0c00-\u0c7f", "te telugu"),
    "Thai": ("\u0e00-\u0e7f", "th thai"),
    "Japanese": ("\u2e80-\u2fdf\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f", "ja japanese"),
    "Chinese": ("\u2e80-\u2fdf\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff", "zh chinese"),
    "Korean": ("\u1100-\u11ff\u3130-\u318f\uac00-\ud7af", "ko korean"),
    "Armenian": ("\u0530-\u058f", "hy armenian"),
    "Georgian": ("\u10a0-\u10ff", "ka georgian"),
}
"""Name of a script: its letters, and the languages (codes of ISO 639, English names) written in it alone."""


class Script(NamedTuple):
    """A script by its name and its letters."""

    name: str
    letters: re.Pattern[str]

    def count(self, texts: Iterable[str]) -> int:
        """How many of its letters stand in the texts."""
        return sum(len(self.letters.findall(text)) for text in texts)


def script_of(language: str) -> Script | None:
    """The script that a language (a code or an English name) is written in; None for Latin, and where unknown."""
    code = re.split(r"[-_ ]", language.strip().lower())[0]
    for name, (letters, languages) in _SCRIPTS.items():
        if code in languages.split():
            return Script(name, re.compile(f"[{letters}]"))
    return None


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
    marks = text.count("/") + text.count("(cid:")
    if marks >= GLYPH_NAME_SHARE * len(text) and sum(map(len, _GLYPH_NAMES.findall(text))) > APART_SHARE * length:
        return "its letters come out as names of glyphs"
    if sum(map(len, _GLUED.findall(text))) > GLUED_SHARE * length:
        return "its words run together"
    if 3 * text.count(" ") > length and sum(map(len, _APART.findall(text))) > 2 * APART_SHARE * length:
        return "its words fall apart into letters"
    return _latin_fault(text) or (_order_fault(text) if HARD.search(text) else None)


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


MANY = 0.1
"""The share of faulty pages from which the whole document is in doubt."""

HARD_SHARE = 0.3
SCRIPT_SHARE, FEWEST_LETTERS = 0.01, 200
SAME_LETTERS, SAME_WORDS = 0.96, 0.7
FOREIGN_LETTERS = 0.9
FULLER = 1.05

HARD_TO_READ = "its script is one that readers get wrong"
DOWNWARDS = "its columns run downwards"
DISAGREE = "the two readers disagree about its letters"


@dataclass(frozen=True)
class Doubt:
    """Why a document's text is in doubt, on which pages, and whether all its pages are with them.

    `foreign`: it has no letters of the script of the corpus's language, which is a doubt that two readers can allay.
    """

    why: str
    pages: tuple[int, ...]
    whole: bool = True
    foreign: Script | None = None


def page_fault(page: PageText) -> str | None:
    """What is wrong with a page as it was read; None where nothing is seen."""
    return page.error or fault(page.text or "")


def doubt_of(pages: Sequence[PageText], script: Script | None) -> Doubt | None:
    """What makes the text of a document doubtful, if anything; `script` is that of the corpus's language."""
    faults = {page.page: found for page in pages if (found := page_fault(page))}
    with_text = [page for page in pages if len(page.text or "") >= FEWEST_CHARACTERS]
    hard = _numbers([page for page in with_text if _is_hard(page.text or "")])
    downwards = _numbers([page for page in pages if page.downwards])
    most = Counter(faults.values()).most_common(1)[0][0] if faults else None
    doubtful, many = tuple(sorted({*faults, *hard, *downwards})), MANY * len(pages)
    if most and len(faults) > many:
        return Doubt(most, doubtful)
    texts = [page.text or "" for page in with_text]
    letters = sum(sum(map(str.isalpha, text)) for text in texts)
    if script and letters >= FEWEST_LETTERS and script.count(texts) < SCRIPT_SHARE * letters:
        return Doubt(f"it has no {script.name} letters", _numbers(with_text), foreign=script)
    if 2 * len(with_text) < len(pages):
        return Doubt("most of its pages have no text", _numbers([page for page in pages if page not in with_text]))
    if doubtful:
        return Doubt(most or (HARD_TO_READ if hard else DOWNWARDS), doubtful, whole=len(doubtful) > many)
    return None


def _numbers(pages: Sequence[PageText]) -> tuple[int, ...]:
    return tuple(page.page for page in pages)


def _is_hard(text: str) -> bool:
    return not text.isascii() and len(HARD.findall(text)) > HARD_SHARE * len(text)


def better(pdfium: PageText, pypdf: PageText, script: Script | None = None) -> ReaderName | None:
    """Whose reading of a page is to be used; None where neither can be. Of two that agree it is PDFium's.

    `script` is given where the document has none of its letters.
    """
    wrong, wrong_too = page_fault(pdfium), page_fault(pypdf)
    one, other = pdfium.text or "", pypdf.text or ""
    if wrong:
        return None if wrong_too or not other.strip() else "pypdf"
    if len(one.strip()) < FEWEST_CHARACTERS:
        return "pdfium" if wrong_too or len(other.strip()) < FEWEST_CHARACTERS else "pypdf"
    mine, others = letters_of(one), letters_of(other)
    if script:
        if script.count([other]) > SCRIPT_SHARE * len(other):
            return "pypdf"
        return "pdfium" if alike(mine, others) >= FOREIGN_LETTERS else None
    if pdfium.downwards:  # pypdf's, if it has nearly all letters of the other, and clearly more
        fuller = others.total() > FULLER * mine.total() and (mine & others).total() >= SAME_LETTERS * mine.total()
        return "pypdf" if fuller and not wrong_too else "pdfium"
    if not _is_hard(one):
        return "pdfium"
    if alike(mine, others) < SAME_LETTERS:
        return None
    if alike(words_of(one), words_of(other)) >= SAME_WORDS or not RIGHT_TO_LEFT_LETTER.search(one):
        return "pdfium"
    order, order_too = (ahead - backwards for ahead, backwards in map(letter_order, (one, other)))
    return None if order == order_too == 0 else "pdfium" if order >= order_too else "pypdf"
