"""The numbers that states give to people, each with its check digits, its ranges, or the words it must stand near."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from . import checksums
from .patterns import Kind, compact, pattern, words

_INVALID_SSN = {"078051120", "219099999"}
_INVALID_NINO = {"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"}
_AREA_GROUP_SERIAL = r"(?<![\w.+-])(?P<value>\d{3}(?P<gap>[ -]?)\d{2}(?P=gap)\d{4})(?![\w-]|\.\d)"
_DASHED = r"(?<![\w.+-])(?P<value>\d{3}-\d{2}-\d{4})(?![\w-]|\.\d)"
_NUMBER = r"(?<![\w.+-])(?P<value>{})(?![\w-]|\.\d)"
_DATE = (
    r"(?:\d{4}[-/.年] ?\d{1,2}[-/.月] ?\d{1,2}(?!\d)|\d{1,2}[-/.] ?\d{1,2}[-/.] ?(?:\d{4}|\d{2})(?!\d)"
    r"|\d{1,2}(?:st|nd|rd|th|\.)? (?:of |de )?[^\W\d][^\s\d.,;:()]{2,11},?\.? (?:de )?\d{4}"
    r"|(?<![^\W\d])[^\W\d]{3,9}+\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4})"
)
_BORN = (
    "born", "dob", "d\\.o\\.b", "date of birth", "birth date", "birthdate", "birthday", "geboren", "geburtsdatum",
    "geb", "née? le", "date de naissance", "nacid[oa]", "fecha de nacimiento", "nat[oa] il", "data di nascita",
    "nascid[oa]", "дата рождения", "родил(?:ся|ась)",
    "urodzon[ya]", "data urodzenia", "doğum tarihi", "ημερομηνία γέννησης", "дата народження", "生于", "出生", "生日",
    "生年月日", "تاريخ الميلاد", "مواليد", "تاریخ تولد", "متولد", "תאריך לידה", "जन्म", "생년월일", "ngày sinh",
)  # fmt: skip
_PASSPORT = (
    "passports?(?: number| no)?", "reisepass(?:nummer)?", "passeport", "pasaporte", "passaporto", "паспорт\\w*",
    "pasaport", "paszport", "διαβατηρ[ίι]ου?", "护照", "護照", "パスポート", "旅券", "جواز", "گذرنامه", "דרכון",
    "पासपोर्ट", "여권", "hộ chiếu",
)  # fmt: skip


def _ssn(value: str) -> bool:
    """The Social Security Administration's rules: no area 000, 666 or from 900, no group 00, no serial 0000."""
    digits = compact(value)
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    issued = area not in {"000", "666"} and area < "900" and group != "00" and serial != "0000"
    return issued and digits not in _INVALID_SSN


def _itin(value: str) -> bool:
    """The Internal Revenue Service's: 9 first, the group 50 to 65, 70 to 88, 90 to 92 or 94 to 99."""
    digits = compact(value)
    group = int(digits[3:5])
    return digits[0] == "9" and (50 <= group <= 65 or 70 <= group <= 88 or (90 <= group <= 99 and group != 93))


def _nino(value: str) -> bool:
    """HM Revenue & Customs' prefixes."""
    return compact(value)[:2] not in _INVALID_NINO


def _nino_in_text(value: str) -> bool:
    """One that is in groups, or is not all hexadecimal digits, as a code may be."""
    return _nino(value) and not re.fullmatch("[0-9A-F]{9}", value)


def _of_date(year: str, month: str, day: str) -> bool:
    try:
        return date(int(year), int(month), int(day)).year >= 1900
    except ValueError:
        return False


def _resident(value: str) -> bool:
    number = value.upper()
    return _of_date(number[6:10], number[10:12], number[12:14]) and checksums.resident_id(number)


def _korean(value: str) -> bool:
    digits = compact(value)
    century = {"1": "19", "2": "19", "5": "19", "6": "19"}.get(digits[6], "20")
    return _of_date(century + digits[:2], digits[2:4], digits[4:6]) and checksums.rrn(digits)


def _swedish(value: str) -> bool:
    digits = re.sub(r"\D", "", value)
    return _of_date("20" + digits[:2], digits[2:4], digits[4:6]) and checksums.luhn(digits)


def _polish(value: str) -> bool:
    month = int(value[2:4]) % 20
    return 1 <= month <= 12 and 1 <= int(value[4:6]) <= 31 and checksums.pesel(value)


def _year_of_a_life(value: str) -> bool:
    """A date with a year from 1900, or of two digits."""
    year = re.search(r"(?<!\d)\d{4}(?!\d)", value)
    return year is None or 1900 <= int(year[0]) <= 2100


def _checked(check: Callable[[str], bool]) -> Callable[[str], bool]:
    """A check of the value without what groups its digits."""
    return lambda value: check(compact(value))


def _number(form: str) -> re.Pattern[str]:
    return pattern(_NUMBER.format(form))


_NINO = _number(r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D]")

IDENTITIES = (
    Kind("cn_resident_id", _number(r"[1-9]\d{16}[\dXx]"), _resident, digits=17),
    Kind("fr_nir", _number(r"[12] ?\d\d ?(?:0[1-9]|1[0-2]|[2-9]\d) ?\d\d ?\d{3} ?\d{3} ?\d\d"),
         _checked(checksums.nir), digits=15),
    Kind("it_codice_fiscale", _number(r"[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]"), checksums.codice_fiscale,
         digits=3),
    Kind("kr_rrn", _number(r"\d{6}-[1-8]\d{6}"), _korean, digits=13),
    Kind("br_cpf", _number(r"\d{3}\.\d{3}\.\d{3}-\d\d"), _checked(checksums.cpf), digits=11),
    Kind("br_cpf", _number(r"\d{11}"), checksums.cpf, words("cpf"), digits=11),
    Kind("pl_pesel", _number(r"\d{11}"), _polish, words("pesel"), digits=11),
    Kind("de_steuer_id", _number(r"\d{2} ?\d{3} ?\d{3} ?\d{3}"), _checked(checksums.steuer_id), digits=11),
    Kind("in_aadhaar", _number(r"[2-9]\d{3}[ -]?\d{4}[ -]?\d{4}"), _checked(checksums.verhoeff),
         words("aa?dhaar", "uidai", "uid", "आधार"), digits=12),
    Kind("in_pan", _number(r"[A-Z]{3}P[A-Z]\d{4}[A-Z]"), digits=4),
    Kind("es_dni", _number(r"(?:[XYZ]-?\d{7}|\d{8})-?[A-HJ-NP-TV-Z]"), _checked(checksums.dni),
         words("dni", "nie", "nif", "documento"), digits=7),
    Kind("se_personnummer", _number(r"(?:19|20)?\d{6}[-+]\d{4}"), lambda value: _swedish(value[-11:]), digits=10),
    Kind("us_ssn", pattern(_DASHED), _ssn, digits=9),
    Kind("us_ssn", pattern(_AREA_GROUP_SERIAL), _ssn, words("ssn", "social security", "ss#"), digits=9),
    Kind("us_itin", pattern(_DASHED), _itin, digits=9),
    Kind("us_itin", pattern(_AREA_GROUP_SERIAL), _itin, words("itin", "taxpayer"), digits=9),
    Kind("uk_nino", _NINO, _nino, words("nino", "national insurance", "ni number"), digits=6),
    Kind("uk_nino", _NINO, _nino_in_text, digits=6),
    Kind("uk_nhs", _number(r"\d{3}[ -]?\d{3}[ -]?\d{4}"), _checked(checksums.nhs), words("nhs"), digits=10),
    Kind("nl_bsn", _number(r"\d{9}"), checksums.bsn, words("bsn", "burgerservicenummer", "sofinummer"), digits=9),
    Kind("ca_sin", _number(r"\d{3}[ -]?\d{3}[ -]?\d{3}"), _checked(checksums.luhn), words("sin", "social insurance"),
         digits=9),
    Kind("passport", _number(r"[A-Z]{0,2} ?\d{6,9}|[A-Z]\d{2}[A-Z0-9]{5,6}"), context=words(*_PASSPORT), digits=2),
    Kind("date_of_birth", re.compile(rf"(?<![\d.])(?P<value>{_DATE})"), _year_of_a_life, words(*_BORN), digits=4),
)  # fmt: skip
