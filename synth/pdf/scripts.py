"""The scripts of languages: which letters a text in a language must have, and which scripts are hard to read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

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

_LETTERS = {
    "Cyrillic": "\u0400-\u052f",
    "Greek": "\u0370-\u03ff\u1f00-\u1fff",
    "Hebrew": "\u0590-\u05ff\ufb1d-\ufb4f",
    "Arabic": "\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufefc",
    "Devanagari": "\u0900-\u097f",
    "Bengali": "\u0980-\u09ff",
    "Tamil": "\u0b80-\u0bff",
    "Telugu": "\u0c00-\u0c7f",
    "Thai": "\u0e00-\u0e7f",
    "Japanese": "\u2e80-\u2fdf\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f",
    "Chinese": "\u2e80-\u2fdf\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    "Korean": "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af",
    "Armenian": "\u0530-\u058f",
    "Georgian": "\u10a0-\u10ff",
}

_LANGUAGES = {
    "Cyrillic": "ru uk bg be mk kk ky mn tg russian ukrainian bulgarian belarusian macedonian kazakh mongolian",
    "Greek": "el greek",
    "Hebrew": "he iw yi hebrew yiddish",
    "Arabic": "ar fa ur ps sd ug ckb arabic persian farsi urdu pashto",
    "Devanagari": "hi mr ne sa hindi marathi nepali sanskrit",
    "Bengali": "bn as bengali assamese",
    "Tamil": "ta tamil",
    "Telugu": "te telugu",
    "Thai": "th thai",
    "Japanese": "ja japanese",
    "Chinese": "zh chinese",
    "Korean": "ko korean",
    "Armenian": "hy armenian",
    "Georgian": "ka georgian",
}
"""Languages (codes of ISO 639, English names) that are written in this script alone."""


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
    for name, languages in _LANGUAGES.items():
        if code in languages.split():
            return Script(name, re.compile(f"[{_LETTERS[name]}]"))
    return None
