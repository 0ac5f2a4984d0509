"""What a kind of finding is: a pattern, a check of what it matches, and the words near it that it may want.

The check digits are as their issuers have published them: ISO/IEC 7812-1 (Luhn), ISO 13616 (IBAN, ISO 7064 mod 97-10),
Verhoeff 1969 (Aadhaar), ISO 7064 mod 11,10 (Steuer-ID), GB 11643-1999 (mod 11-2), and so on; named at each function.

Patterns are matched with ASCII classes over a text whose digits and full-width forms were folded to ASCII one for one,
so that a number beside Chinese, in Arabic digits or in full-width ones is found in its place. Every repetition is
bounded or begins where none can stand before it: the time grows with the text's length and no faster.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import digits
from typing import Any

from ....engine.evaluator import NO_VALUE

FAMILY = "eval-studio-safety"
PROMPTS = Path(__file__).with_name("prompts")
NO_WORDS = f"{NO_VALUE}the answer holds no words"

SHOWN = 50
"""Findings that a record lists."""

_PRODUCTS = """
0123456789 1234067895 2340178956 3401289567 4012395678 5987604321 6598710432 7659821043 8765932104 9876543210
"""
_PERMUTATIONS = "0123456789 1576283094 5803796142 8916043527 9453126870 4286573901 2793806415 7046913258"
_TIMES, _PERMUTED = _PRODUCTS.split(), _PERMUTATIONS.split()
_ODD_CF = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)


def luhn(digits: str) -> bool:
    """ISO/IEC 7812-1: cards, Canadian SIN, Swedish personnummer."""
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(number // 10 + number % 10 for number in doubled) % 10 == 0


def mod_97(iban: str) -> bool:
    """ISO 7064 mod 97-10 as IBANs have it: the first four characters last, letters as 10 to 35, the rest is 1."""
    return int("".join(str(int(sign, 36)) for sign in iban[4:] + iban[:4])) % 97 == 1


def verhoeff(digits: str) -> bool:
    """The dihedral group D5 of Verhoeff 1969; the last digit is the check."""
    state = 0
    for place, digit in enumerate(reversed(digits)):
        state = int(_TIMES[state][int(_PERMUTED[place % 8][int(digit)])])
    return state == 0


def steuer_id(digits: str) -> bool:
    """Germany, 11 digits: of the first ten one stands twice or thrice and no other twice; ISO 7064 mod 11,10."""
    counts = Counter(digits[:10])
    repeated = [times for times in counts.values() if times > 1]
    if digits[0] == "0" or repeated not in ([2], [3]):
        return False
    product = 10
    for digit in digits[:10]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(digits[10])


def resident_id(number: str) -> bool:
    """China, GB 11643-1999: 17 digits and a check of mod 11-2, X for 10."""
    total = sum(int(digit) * pow(2, 17 - place, 11) for place, digit in enumerate(number[:17]))
    return "10X98765432"[total % 11] == number[17]


def cpf(digits: str) -> bool:
    """Brazil, 11 digits: two checks of mod 11; not all digits the same."""
    return len(set(digits)) > 1 and all(_cpf_check(digits[:n]) == int(digits[n]) for n in (9, 10))


def _cpf_check(digits: str) -> int:
    total = weighted(digits, range(len(digits) + 1, 1, -1))
    return (total * 10 % 11) % 10


def nhs(digits: str) -> bool:
    """England's NHS number, 10 digits, mod 11 with weights 10 to 2; a check of 10 is not issued."""
    return (11 - weighted(digits[:9], range(10, 1, -1)) % 11) % 11 == int(digits[9])


def dni(number: str) -> bool:
    """Spain: the letter of DNI and NIE is the number mod 23; X, Y, Z of a NIE stand for 0, 1, 2."""
    digits = number[:-1].translate(str.maketrans("XYZ", "012"))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(digits) % 23] == number[-1]


def nir(digits: str) -> bool:
    """France's social security number, 15 digits: 97 less the first 13 mod 97."""
    return 97 - int(digits[:13]) % 97 == int(digits[13:])


def codice_fiscale(code: str) -> bool:
    """Italy, 16 characters; the last is the sum of the others' values mod 26, those in odd places by a table."""
    total = 0
    for place, sign in enumerate(code[:15]):
        value = int(sign) if sign.isdigit() else ord(sign) - ord("A")
        total += _ODD_CF[value] if place % 2 == 0 else value
    return chr(ord("A") + total % 26) == code[15]


def rrn(digits: str) -> bool:
    """South Korea, 13 digits: mod 11 of weights 2 to 9 and 2 to 5 (numbers given out since October 2020 have none)."""
    return (11 - weighted(digits[:12], (*range(2, 10), *range(2, 6))) % 11) % 10 == int(digits[12])


def pesel(digits: str) -> bool:
    """Poland, 11 digits, weights 1 3 7 9 mod 10."""
    return weighted(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0


def bsn(digits: str) -> bool:
    """The Netherlands, 9 digits: the eleven test, the last digit counted -1."""
    return int(digits) > 0 and weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def weighted(digits: str, weights: Sequence[int]) -> int:
    """The sum of each digit times its weight."""
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=True))


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
    n_together = max((sum(map(some.count, digits)) for some in _GROUPED.findall(folded)), default=0)
    found: list[Finding] = []
    for kind in kinds:
        for one in kind.find(folded) if kind.can_be_in(folded, n_together) else ():
            if not any(taken[one.start : one.end]):
                taken[one.start : one.end] = b"\x01" * (one.end - one.start)
                found.append(one)
    return sorted(found, key=lambda one: one.start)


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
