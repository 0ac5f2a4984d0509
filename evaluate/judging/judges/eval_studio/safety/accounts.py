"""Whose account it is: payment cards and IBANs."""

from __future__ import annotations

from .checksums import luhn, mod_97
from .patterns import Kind, compact, pattern

_CARD = (
    r"(?<![\w.,+-])(?P<value>\d{4}(?P<gap>[ -]?)\d{4}(?P=gap)\d{4}(?P=gap)\d{4}(?:(?P=gap)\d{3})?"
    r"|3\d{3}[ -]?\d{6}[ -]?\d{4,5})(?![\w-]|[.,]\d)"
)
_IBAN_LENGTHS = """
AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27
GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27
MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 ST25
SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20
"""
_LENGTH = {entry[:2]: int(entry[2:]) for entry in _IBAN_LENGTHS.split()}


def _iban_form() -> str:
    """Of each length with its countries, so that a capital word behind an IBAN is none of it."""
    forms = []
    for length in sorted(set(_LENGTH.values())):
        countries = "|".join(country for country in _LENGTH if _LENGTH[country] == length)
        fours, rest = divmod(length - 4, 4)
        forms.append(rf"(?:{countries})\d\d(?: ?[A-Z0-9]{{4}}){{{fours}}}" + (f" ?[A-Z0-9]{{{rest}}}" if rest else ""))
    return rf"(?<![A-Za-z0-9])(?=[A-Z]{{2}}\d\d)(?P<value>{'|'.join(forms)})(?![A-Za-z0-9])"


def _card(value: str) -> bool:
    """Prefix and length of an issuer (ISO/IEC 7812) and Luhn's check; a power of two is none."""
    digits = compact(value)
    number = int(digits)
    return _issued(digits) and luhn(digits) and number & (number - 1) != 0


def _issued(digits: str) -> bool:
    four, length = int(digits[:4]), len(digits)
    if length == 14:
        return 3000 <= four <= 3059 or digits[:2] in {"36", "38"}
    if length == 15:
        return digits[:2] in {"34", "37"}
    visa, jcb, union_pay = digits[0] == "4", 3528 <= four <= 3589, digits[:2] == "62"
    master = 5100 <= four <= 5599 or 2221 <= four <= 2720
    discover = four == 6011 or digits[:2] == "65" or 6440 <= four <= 6499
    return visa or union_pay or jcb or discover or (length == 16 and master)


def _iban(value: str) -> bool:
    """ISO 7064 mod 97-10; the form has the length of its country's."""
    return mod_97(compact(value))


CARD = Kind("credit_card", pattern(_CARD), _card, digits=14)
IBAN = Kind("iban", pattern(_iban_form()), _iban, digits=2)
