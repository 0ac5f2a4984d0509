"""Stretches of a text that are encoded: base16, base64, URL, HTML and Unicode escapes, and ROT13 of the whole.

Only what decodes to readable text counts, so that digests, addresses and dumps of a program are passed over. Bounded:
MOST_SPANS stretches of a text, MOST_DECODED characters of them together; what is beyond is not decoded.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

MOST_SPANS = 2000
MOST_DECODED = 200_000

_BASE16 = re.compile(r"(?<![0-9A-Za-z])(?:0x)?(?:[0-9A-Fa-f]{2}){4,50000}(?![0-9A-Za-z])")
_BASE16_APART = re.compile(
    r"(?<![0-9A-Za-z])(?:0x|\\x)?[0-9A-Fa-f]{2}(?:(?:[ \t,:-]{1,2}(?:0x|\\x)?|\\x)[0-9A-Fa-f]{2}){3,20000}"
    r"(?![0-9A-Za-z])"
)
_BASE16_FOURS = re.compile(
    r"(?<![0-9A-Za-z])[0-9A-Fa-f]{4}(?:[ \t][0-9A-Fa-f]{4}){1,10000}(?:[ \t][0-9A-Fa-f]{2})?(?![0-9A-Za-z])"
)
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{8,100000}={0,2}(?![A-Za-z0-9+/_=-])")
_BASE64_LINES = re.compile(
    r"(?<![A-Za-z0-9+/=])(?:[A-Za-z0-9+/]{60,76}\r?\n){1,1500}[A-Za-z0-9+/]{1,76}={0,2}(?![A-Za-z0-9+/=])"
)
_PERCENT = re.compile(r"(?<!\S)[^\s%]{0,2000}%[0-9A-Fa-f]{2}\S{0,2000}")
_HTML = re.compile(r"(?:&#(?:\d{1,7}|[xX][0-9A-Fa-f]{1,6});[^&]?){3,2000}")
_UNICODE = re.compile(r"(?:\\u[0-9A-Fa-f]{4}){3,2000}")


class Decoded(NamedTuple):
    """One stretch: how it was encoded, where it stands in characters from 0, what it says, and how it stood there."""

    encoding: str
    start: int
    end: int
    text: str
    source: str


def decoded(text: str) -> list[Decoded]:
    """What the stretches of a text say; a stretch that fits two encodings is there twice."""
    found: list[Decoded] = []
    room = MOST_DECODED
    for one in _all(text):
        room -= len(one.text)
        if room < 0 or len(found) == MOST_SPANS:
            break
        found.append(one)
    return found


def _all(text: str) -> Iterator[Decoded]:
    for name, form, read in _FORMS:
        for number, match in enumerate(form.finditer(text)):
            if number == MOST_SPANS:
                break
            said = read(match[0])
            if said is not None and said != match[0]:
                yield Decoded(name, match.start(), match.end(), said, match[0])


def rot13(text: str) -> Decoded:
    """The whole text, each Latin letter thirteen further."""
    return Decoded("rot13", 0, len(text), codecs.decode(text, "rot13"), text)


def _base16(source: str) -> str | None:
    digits = re.sub(r"0x|\\x|[^0-9A-Fa-f]", "", source)
    return _readable(bytes.fromhex(digits)) if len(digits) % 2 == 0 else None


def _base16_apart(source: str) -> str | None:
    """Also without the first or the last two bytes, which may be words: `de`, `be`, `a1`."""
    digits = re.sub(r"0x|\\x|[^0-9A-Fa-f]", "", source)
    raw = bytes.fromhex(digits[: len(digits) // 2 * 2])
    parts = (raw[start : len(raw) - end] for start in (0, 1, 2) for end in (0, 1, 2))
    return next((said for part in parts if len(part) > 3 and (said := _readable(part)) is not None), None)


def _base64(source: str) -> str | None:
    letters = re.sub(r"\s", "", source).translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        return _readable(base64.b64decode(letters + "=" * (-len(letters) % 4), validate=True))
    except (binascii.Error, ValueError):
        return None


def _escapes(source: str) -> str | None:
    units = bytes.fromhex(source.replace("\\u", ""))
    return units.decode("utf-16-be", errors="replace")


def _readable(raw: bytes) -> str | None:
    """UTF-8 (or Latin letters in UTF-16, as PowerShell encodes them) without control characters, or None."""
    narrow = raw[::2] if raw and not any(raw[1::2]) and len(raw) % 2 == 0 else raw
    try:
        text = narrow.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if all(sign.isprintable() or sign in "\t\n\r" for sign in text) else None


_FORMS: tuple[tuple[str, re.Pattern[str], Callable[[str], str | None]], ...] = (
    ("base16", _BASE16, _base16),
    ("base16", _BASE16_APART, _base16_apart),
    ("base16", _BASE16_FOURS, _base16_apart),
    ("base64", _BASE64_LINES, _base64),
    ("base64", _BASE64, _base64),
    ("url", _PERCENT, lambda source: unquote(source, errors="replace")),
    ("html", _HTML, html.unescape),
    ("unicode", _UNICODE, _escapes),
)
