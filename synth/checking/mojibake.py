"""Letters that are those of another encoding: UTF-8 that was read as Windows-1252, Latin-1 or Windows-1251."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_FOREIGN = re.compile(r"[^\x00-\x7f]{2,}")
_CODE_PAGES = ("cp1252", "cp1251")
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
    found = [(run, meant) for run in _FOREIGN.findall(text) for meant in _meant(run) if not _closes(run)]
    n = sum(len(meant) for _, meant in found)
    if any(_is_sure(run, meant) for run, meant in found) or n >= 2:
        return f"“{found[0][0]}”, which was “{found[0][1]}”"
    return None


def _meant(run: str) -> Iterator[str]:
    for page in _CODE_PAGES:
        try:
            meant = _bytes_of(run, page).decode("utf-8")
        except UnicodeError:
            continue
        if len(meant) < len(run) and all(unicodedata.category(char)[0] in "LNPSZM" for char in meant):
            yield meant
            return


def _bytes_of(run: str, page: str) -> bytes:
    """The bytes it was read from; what cp1252 leaves undefined stands for itself, as browsers read it."""
    if page != "cp1252":
        return run.encode(page)
    return b"".join(bytes([ord(char)]) if 0x80 <= ord(char) < 0xA0 else char.encode(page) for char in run)


def _is_sure(run: str, meant: str) -> bool:
    return bool(_SURE.match(meant)) and run[0] in "ÂÃâÐÑØÙРСГ"


def _closes(run: str) -> bool:
    """Whether a letter stands before a mark, which no second byte of its would be."""
    return unicodedata.category(run[1])[0] in "PZ" and run[0] not in "ÂÃâÐÑØÙ"
