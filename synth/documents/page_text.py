"""Raw page text made fit to read: Unicode normal form, ligatures, control characters, words broken at line ends.

Line breaks stay, since tables, register descriptions and code live by them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from .letter_forms import plain_letters

_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "∗": "*", "\u00a0": " "}
    | {"\uf0b7": "•", "\uf0a7": "▪", "\u2028": "\n", "\u2029": "\n", "\x85": "\n", "\x0c": "\n", "\t": " "}
)
"""NFKC would do the ligatures too, and make 10⁶ into 106."""

_PDFIUM_HYPHEN = re.compile("[\x02\ufffe]\n?")
_CONTINUATION = re.compile("←[-↩]?\n")
"""Where Doxygen breaks a long line of code."""

_INVISIBLE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\ue000-\uf8ff\U000e0000-\U0010ffff]"
)
_LOOSE_ACCENT = re.compile("(?<=[^\\W\\d_])([´¨ˇ˘])([^\\W\\d_])")
_COMBINING = {"´": "\u0301", "¨": "\u0308", "ˇ": "\u030c", "˘": "\u0306"}
"""TeX's older fonts set an accent as a character of its own before the letter."""

_JUSTIFIED = re.compile(r"(?<=\S) {2,3}(?=\S)")
_FAR_APART = re.compile(r"(?<=\S) {4,}(?=\S)")
_BLANK_LINES = re.compile(r"\n{3,}")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_BROKEN_WORD = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)-\n *([^\W\d_]+)(\S*)[ ]?")


def clean_characters(raw: str) -> str:
    """A page's text without what cannot be seen or stored, in NFC; lines keep their order and their indentation."""
    text = plain_letters(raw).replace("\r\n", "\n").replace("\r", "\n")
    text = _PDFIUM_HYPHEN.sub("-\n", text)
    text = _INVISIBLE.sub("", unicodedata.normalize("NFC", text.translate(_LIGATURES)))
    text = _LOOSE_ACCENT.sub(lambda m: unicodedata.normalize("NFC", m[2] + _COMBINING[m[1]]), text)
    text = _FAR_APART.sub("   ", _JUSTIFIED.sub(" ", _CONTINUATION.sub("", text)))
    lines = (line.rstrip() for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip("\n")


def join_broken_words(pages: Sequence[str]) -> list[str]:
    """The pages of one document with words that were broken at a line end whole again, at the end of the first line.

    Whether the hyphen belongs to the word is asked of the document: "fixed-" "point" keeps it where "fixed-point" or
    both of its parts, and no "fixedpoint", stand elsewhere in it. Names with digits or underscores are left alone.
    """
    known: Counter[str] = Counter()
    for page in pages:
        known.update(word.lower() for word in _WORD.findall(_BROKEN_WORD.sub(" ", page)))
    return [_BROKEN_WORD.sub(lambda m: _joined(m, known), page).strip("\n") for page in pages]


def _joined(match: re.Match[str], known: Counter[str]) -> str:
    first, second, rest = match[1], match[2], match[3]
    if second[0].isupper() or len(first) < 2:
        return match[0]
    whole, hyphened = f"{first}{second}".lower(), f"{first}-{second}".lower()
    last_part = first.lower().rsplit("-", 1)[-1]
    two_words = known[last_part] > 1 and known[second.lower()] > 1 and len(second) > 2
    hyphen = "-" if known[hyphened] > known[whole] or (two_words and not known[whole]) else ""
    return f"{first}{hyphen}{second}{rest}\n"
