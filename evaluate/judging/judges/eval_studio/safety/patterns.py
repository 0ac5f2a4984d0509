"""What a kind of finding is: a pattern, a check of what it matches, and the words near it that it may want.

Patterns are matched with ASCII classes over a text whose digits and full-width forms were folded to ASCII one for one,
so that a number beside Chinese, in Arabic digits or in full-width ones is found in its place. Every repetition is
bounded or begins where none can stand before it: the time grows with the text's length and no faster.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import digits
from typing import Any

NEAR = 40
"""Characters before a finding in which its context word is looked for."""

_SENTENCE = re.compile(r"[.!?\u061f](?=\s)|[\u3002\uff01\uff1f\n]")
_LATIN = "[A-Za-z\u00c0-\u024f]"
_GROUPED = re.compile(r"[0-9][0-9 ./()+-]*")

MOST = 1000
"""Findings of a kind in one text; more are not listed."""


@dataclass(frozen=True)
class Finding:
    """A kind and where it stands, in characters from 0; `text` is the value itself and goes into no record."""

    kind: str
    start: int
    end: int
    text: str

    def detail(self) -> dict[str, Any]:
        """For a record: the value masked."""
        return {"kind": self.kind, "start": self.start, "end": self.end, "masked": masked(self.text)}


@dataclass(frozen=True)
class Kind:
    """One entry.

    pattern: with a group `value` where the finding is less than the match. check: of the value without spaces, dots,
    hyphens, slashes and brackets, in capitals; True where it can be one. context: a pattern of words, of which one must
    stand in the NEAR characters before it. unless: of words of which none may, in the same sentence. digits: how many
    any match has at least with nothing but what groups them between; holds: signs of which one stands in any match. A
    text without them is not gone through.
    """

    name: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool] = bool
    context: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    digits: int = 0
    holds: tuple[str, ...] = ()

    def can_be_in(self, text: str, n_together: int) -> bool:
        """Whether a folded text of which so many digits stand together at most has what any match has."""
        return n_together >= self.digits and (not self.holds or any(sign in text for sign in self.holds))

    def find(self, text: str) -> Iterable[Finding]:
        """Every place in a folded text."""
        found = 0
        for match in self.pattern.finditer(text):
            group = "value" if "value" in self.pattern.groupindex else 0
            start, end = match.span(group)
            if self._fits(text, start, match[group]):
                yield Finding(self.name, start, end, match[group])
                found += 1
            if found == MOST:
                return

    def _fits(self, text: str, start: int, value: str) -> bool:
        before = text[max(start - NEAR, 0) : start]
        if self.context is not None and not self.context.search(before):
            return False
        return self.check(value) and not (self.unless is not None and self.unless.search(_SENTENCE.split(before)[-1]))


def pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern with ASCII classes."""
    return re.compile(source, flags | re.ASCII)


def words(*any_of: str) -> re.Pattern[str]:
    """One of these words, in any case; those of Latin letters not as a part of a longer word."""
    parts = (rf"(?<!{_LATIN}){word}(?!{_LATIN})" if word[0].isascii() else word for word in any_of)
    return re.compile("|".join(parts), re.IGNORECASE)


def compact(value: str) -> str:
    """Without what groups digits, in capitals."""
    return re.sub(r"[\s./()\-]", "", value).upper()


def findings(text: str, kinds: Sequence[Kind]) -> list[Finding]:
    """What the kinds find, by place; of findings that overlap the one whose kind is listed first."""
    folded, taken = fold(text), bytearray(len(text))
    n_together = max(map(_n_digits, _GROUPED.findall(folded)), default=0)
    found: list[Finding] = []
    for kind in kinds:
        for one in kind.find(folded) if kind.can_be_in(folded, n_together) else ():
            if not any(taken[one.start : one.end]):
                taken[one.start : one.end] = b"\x01" * (one.end - one.start)
                found.append(one)
    return sorted(found, key=lambda one: one.start)


def _n_digits(text: str) -> int:
    return sum(map(text.count, digits))


def fold(text: str) -> str:
    """The text with decimal digits and full-width forms in ASCII, character for character."""
    return text if text.isascii() else "".join(map(_folded, text))


@lru_cache(maxsize=4096)
def _folded(sign: str) -> str:
    if sign.isdecimal():
        return str(unicodedata.decimal(sign))
    if sign in "\u2010\u2011\u2012\u2013\u2212":
        return "-"
    if sign in "\u00a0\u2007\u202f\u2009":
        return " "
    folded = unicodedata.normalize("NFKC", sign)
    return folded if len(folded) == 1 and folded.isascii() else sign


def masked(value: str) -> str:
    """Its first letter or digit, asterisks for the others, and its length: `4*** **** **** **** (19 characters)`."""
    shown = re.sub(r"(?<=[^\W_])[^\W_]|(?<=[\W_])(?!^)[^\W_]", "*", value[:40])
    return f"{shown}{'…' if len(value) > 40 else ''} ({len(value)} characters)"


def summary(found: Sequence[Finding]) -> str:
    """The reason of a record: `2 found: email, phone`."""
    kinds = ", ".join(dict.fromkeys(one.kind for one in found))
    return f"{len(found)} found: {kinds}" if found else "nothing found"
