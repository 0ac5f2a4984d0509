"""Numbers in a text, whatever digits and separators it writes them with, and those that others make by arithmetic."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import permutations

LARGEST_COUNT = 20
"""Whole numbers up to here may be counts of what a text lists, or stand there as words."""
MOST_COMBINED = 12
"""Numbers of a text of which sums, differences, products and ratios are made."""

_UNITS = (10.0, 100.0, 1e3, 1e6, 1e9, 8.0, 1024.0, 1024.0**2, 60.0, 3600.0, 24.0, 7.0, 12.0)

_NUMBER = re.compile(
    r"(?<![\w.])0[xX][0-9A-Fa-f]+|"
    r"(?<![A-Za-z_\d])\d+(?:[.,'’\u00a0\u202f\u066b\u066c ]\d{3}(?!\d)|[.,\u066b]\d+)*(?![A-Za-z_]*\d*[A-Za-z_]*\d)"
)
_SPELT = re.compile(
    r"\b(?:thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|dozen|half|double|twice|"
    r"dreißig|vierzig|fünfzig|sechzig|siebzig|achtzig|neunzig|hundert|tausend|million|milliarde|hälfte|halb|dutzend|"
    r"trente|quarante|cinquante|soixante|moitié|treinta|cuarenta|cincuenta|sesenta|ciento|trinta|quarenta|cinquenta)\w*|"
    r"\b(?:cents?|mille|mitad|cien|mil|cem|metade)\b|"
    r"(?<!\w)(?:тридцат|сорок|пятьдесят|шестьдесят|семьдесят|восемьдесят|девяност|сто\b|сот|двест|трист|тысяч|миллион|"
    r"миллиард|половин)\w*|ثلاثون|ثلاثين|أربع[وي]ن|خمس[وي]ن|ست[وي]ن|سبع[وي]ن|ثمان[وي]ن|تسع[وي]ن|مائة|مئة|ألف|مليون|نصف|"
    r"[一二三四五六七八九十百千万亿两]{2,}|[百千万亿]|半",
    re.IGNORECASE,
)


def numbers_in(text: str) -> list[float]:
    """The numbers of a text in their order: 1,000 and 1.000 are one thousand, 3,5 is three and a half, 0x1F is 31."""
    return [value for value, _ in _found(text)]


def spells_numbers(text: str) -> bool:
    """Whether a text writes a number above twenty, or a part such as half, in words of the languages known here."""
    return bool(_SPELT.search(unicodedata.normalize("NFKC", text)))


def foreign_number(answer: str, evidence: str, question: str) -> str | None:
    """A number of the answer that stands neither in the evidence nor in the question; None where there is none.

    Not judged: evidence that spells numbers out, counts up to twenty, and what a sum, a difference, a product or a
    ratio of two of the evidence's numbers makes, rounded or not, as a per cent too, and what is one in another unit.
    """
    if spells_numbers(evidence):
        return None
    known = {*numbers_in(evidence), *numbers_in(question)}
    if not known:
        return None
    for value, written in _found(answer):
        is_count = value <= LARGEST_COUNT and value == int(value)
        if not (is_count or value in known or _comes_of(value, known)):
            return written
    return None


def other_amount(answer: str, evidence: str) -> tuple[str, str] | None:
    """(7 cycles, 4 cycles): a number with the word behind it, where the evidence has that word behind one other alone.

    The answer's number stands nowhere in the evidence, also not in another unit, as a sum or a difference.
    """
    if spells_numbers(evidence):
        return None
    known, there = numbers_in(evidence), dict[str, dict[float, str]]()
    for value, unit, written in _amounts(evidence):
        there.setdefault(unit, {})[value] = written
    for value, unit, written in _amounts(answer):
        others = there.get(unit, {})
        if value > 1 and len(others) == 1 and not _comes_of(value, known):
            return written, next(iter(others.values()))
    return None


def _found(text: str) -> Iterator[tuple[float, str]]:
    for match in _NUMBER.finditer(_ascii_digits(text)):
        value = _value(match.group())
        if value is not None:
            yield value, match.group()


def _amounts(text: str) -> Iterator[tuple[float, str, str]]:
    plain = _ascii_digits(text)
    for match in _NUMBER.finditer(plain):
        unit = re.match(r"[\s\u00a0-]?([^\W\d_]{2,12}|%)", plain[match.end() :])
        value = _value(match.group())
        if unit and value is not None:
            yield value, unit[1].casefold()[:5], match.group() + unit.group()


def _ascii_digits(text: str) -> str:
    """With the digits of every script as ASCII's."""
    folded = unicodedata.normalize("NFKC", text)
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in folded)


def _value(written: str) -> float | None:
    if written[:2].lower() == "0x":
        return float(int(written, 16))
    text = re.sub(r"['’\u00a0\u202f\u066c ]", "", written).replace("\u066b", ".")
    parts = re.split("[.,]", text)
    if len(parts) > 2 and all(len(part) == 3 for part in parts[1:]):
        return float("".join(parts))
    if len(parts) > 2:
        return None  # a version, a date, an address
    if len(parts) == 2 and len(parts[1]) == 3 and parts[0] != "0":
        return float("".join(parts))
    return float(".".join(parts))


def _comes_of(value: float, known: Iterable[float]) -> bool:
    """Whether a number is one of those known, in another unit, or made of two of them, up to rounding."""
    others = sorted(set(known))
    return any(_same(value, other) for other in (*_in_units(others), *_made(others[:MOST_COMBINED])))


def _made(known: Iterable[float]) -> Iterator[float]:
    for one, other in permutations(known, 2):
        yield from (one + other, one - other, one * other)
        if other:
            yield from (one / other, 100 * one / other, 100 * abs(one - other) / other)


def _in_units(known: Iterable[float]) -> Iterator[float]:
    """The numbers themselves, and in larger and smaller units: thousands, bytes, minutes, hours, days, months."""
    for one in known:
        yield one
        for factor in _UNITS:
            yield from (one * factor, one / factor)


def _same(value: float, other: float) -> bool:
    """Equal, or equal once the other is rounded to 2 figures or more, as answers round."""
    return value == other or any(value == float(f"{other:.{digits}g}") for digits in (2, 3, 4))
