"""What a kind of finding is (a pattern, a check of what it matches, words near it that it may want), and all kinds of
personal data.

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
from datetime import date
from functools import lru_cache
from ipaddress import ip_address
from itertools import pairwise
from pathlib import Path
from string import digits
from typing import Any

FAMILY = "eval-studio-safety"
PROMPTS = Path(__file__).with_name("prompts")

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


def cpf(digits: str) -> bool:
    """Brazil, 11 digits: two checks of mod 11; not all digits the same."""
    checks = (weighted(digits[:n], range(n + 1, 1, -1)) * 10 % 11 % 10 == int(digits[n]) for n in (9, 10))
    return len(set(digits)) > 1 and all(checks)


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

    pattern: with a group `value` where the finding is less than the match. check: of the value as it stands; True where
    it can be one. context: a pattern of words, of which one must stand in the NEAR characters before it. unless: of
    words of which none may, in the same sentence. digits: how many any match has at least with nothing but what groups
    them between; holds: signs of which one stands in any match. A text without them is not gone through.
    """

    name: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool] = bool
    context: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    digits: int = 0
    holds: tuple[str, ...] = ()

    def find(self, text: str) -> Iterable[Finding]:
        """Every place in a folded text."""
        found = 0
        group = "value" if "value" in self.pattern.groupindex else 0
        for match in self.pattern.finditer(text):
            start, end = match.span(group)
            before = text[max(start - NEAR, 0) : start]
            if (
                (self.context is None or self.context.search(before))
                and self.check(match[group])
                and not (self.unless is not None and self.unless.search(_SENTENCE.split(before)[-1]))
            ):
                yield Finding(self.name, start, end, match[group])
                found += 1
            if found == MOST:
                return


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
        if n_together < kind.digits or (kind.holds and not any(sign in folded for sign in kind.holds)):
            continue  # the text has not what any match has
        for one in kind.find(folded):
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
_LENGTHS = {entry[:2]: int(entry[2:]) for entry in _IBAN_LENGTHS.split()}


def _iban_form() -> str:
    """Of each length with its countries, so that a capital word behind an IBAN is none of it."""
    forms = []
    for length in sorted(set(_LENGTHS.values())):
        countries = "|".join(country for country in _LENGTHS if _LENGTHS[country] == length)
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


def _checked(check: Callable[[str], bool]) -> Callable[[str], bool]:
    """A check of the value without what groups its digits."""
    return lambda value: check(compact(value))


CARD = Kind("credit_card", pattern(_CARD), _card, digits=14)
IBAN = Kind("iban", pattern(_iban_form()), _checked(mod_97), digits=2)


_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_IP_V4 = rf"(?<![\w.:-])(?=\d{{1,3}}\.\d{{1,3}}\.\d{{1,3}}\.\d)(?P<value>(?:{_OCTET}\.){{3}}{_OCTET})(?![\w-]|\.\d)"
_IP_V6 = r"(?<![\w:.])(?P<value>[23][0-9A-Fa-f]{3}(?::{1,2}[0-9A-Fa-f]{1,4}){2,7}(?:::)?)(?![\w:])"
_MAC = r"(?<![\w:-])(?P<value>[0-9A-Fa-f]{2}(?:(?P<gap>[:-])[0-9A-Fa-f]{2})(?:(?P=gap)[0-9A-Fa-f]{2}){4})(?![\w:-])"
_VERSION = words(
    "version", "versions", "v", "ver", "release", "releases", "build", "section", "sections", "chapter", "rev"
)
_ADDRESS = re.compile(r"(?:(?<![A-Za-z])(?:ipv?4?|host)(?![A-Za-z])|地址|адрес|عنوان)[^\n]*$", re.IGNORECASE)


def _ip_v4(value: str) -> bool:
    """One that another machine can have; 203.0.113.0/24 and the other ranges for documentation count."""
    address = ip_address(value)
    documentation = value.startswith(("192.0.2.", "198.51.100.", "203.0.113."))
    return documentation or (address.is_global and not address.is_multicast)


def _unlike_a_section(value: str) -> bool:
    """Unlike 23.5.2.105, the number of a section or a version: begins with 40 and more, or has two of three digits."""
    octets = [int(octet) for octet in value.split(".")]
    return _ip_v4(value) and (octets[0] > 39 or sum(octet > 99 for octet in octets) > 1)


def _ip_v6(value: str) -> bool:
    """Of 2000::/3, which is all that is given out."""
    try:
        return ip_address(value).version == 6
    except ValueError:
        return False


def _mac(value: str) -> bool:
    """A single machine's: not for groups, and not a row of equal or counted bytes."""
    pairs = [int(pair, 16) for pair in re.split("[:-]", value)]
    steps = {after - before for before, after in pairwise(pairs)}
    return pairs[0] % 2 == 0 and len(steps) > 1


ADDRESSES = (
    Kind("ip_v6", pattern(_IP_V6), _ip_v6, digits=1, holds=(":",)),
    Kind("mac_address", pattern(_MAC), _mac, holds=(":", "-")),
    Kind("ip_v4", pattern(_IP_V4), _ip_v4, _ADDRESS, digits=4),
    Kind("ip_v4", pattern(_IP_V4), _unlike_a_section, unless=_VERSION, digits=4),
)


_GENERIC = """
academy agency app arpa asia bank biz blog cat cloud club com company consulting coop corp design dev digital edu email
example finance global gov group health home info inc int internal international invalid jobs lan law legal life live
llc local london ltd media mil mobi museum name net network news ngo online org page post pro school services shop site
social solutions space store studio support systems team tech tel test today tokyo travel university wiki work world xyz
berlin
"""
"""Generic domains that addresses are at; domains of two letters are countries'."""

_EMAIL = (
    r"(?<![\w.%+$-])(?<!://)(?P<value>[A-Za-z0-9][\w.%+'-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}"
    r"(?:[A-Za-z]{2}|xn--[A-Za-z0-9]{2,20}|" + "|".join(_GENERIC.split()) + r"))(?![\w-]|\.\w|[(:]\w)"
)
_PHONE_WORDS = words(
    r"t[eé]l(?:ephone|efon|éphone|éfono|efono|efone)?", r"phone(?: number)?", "cellphone", "mobile", "fax", "whatsapp",
    "handynummer", "móvil", "cellulare", "celular", "тел", "телефон", "моб", "电话", "電話", "手机", "手機", "拨打",
    "هاتف", "جوال", "تليفون", "تلفن", "موبایل", "טלפון", "फ़ोन", "फोन", "मोबाइल", "전화", "휴대폰",
    "τηλέφωνο", "điện thoại",
)  # fmt: skip
_INTERNATIONAL = r"(?<![\w+.)\]}])(?P<value>\+[2-9](?:[ ./-]{0,2}\(?\d\)?){6,14})(?![\w-]|\.\d)"
_PLUS_ONE = r"(?<![\w+.)\]}])(?P<value>\+1[ .-]{0,2}\(?[2-9]\d\d\)?[ .-]{0,2}[2-9]\d\d[ .-]?\d{4})(?![\w-]|\.\d)"
_NORTH_AMERICAN = (
    r"(?<![\w.+/-])(?P<value>(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d(?P<gap>[.-]))[2-9]\d\d(?(gap)(?P=gap)|[ .-])\d{4})"
    r"(?![\w-]|[./]\d)"
)
_NEAR_A_WORD = r"(?<![\w.+/-])(?P<value>\(?\d(?:[ ./()-]{0,2}\d){6,14})(?![\w-]|[./]\d)"


def _email(value: str) -> bool:
    """Not a version control address, and its parts as RFC 5321 has them: no empty one."""
    local = value.partition("@")[0].lower()
    return local not in {"git", "hg", "svn"} and ".." not in local and not local.endswith(".")


def _international(value: str) -> bool:
    """E.164: 8 to 15 digits; not one or two digits over and over, as made-up numbers in code are."""
    digits = re.sub(r"\D", "", value)
    return 8 <= len(digits) <= 15 and len(set(digits)) > 2


def _national(value: str) -> bool:
    return 7 <= len(compact(value)) <= 15 and len(set(compact(value))) > 2


EMAIL = Kind("email", pattern(_EMAIL, re.IGNORECASE), _email, holds=("@",))
PHONES = (
    Kind("phone", pattern(_INTERNATIONAL), _international, digits=7, holds=("+",)),
    Kind("phone", pattern(_PLUS_ONE), _national, digits=11, holds=("+",)),
    Kind("phone", pattern(_NORTH_AMERICAN), _national, digits=10),
    Kind("phone", pattern(_NEAR_A_WORD), _national, _PHONE_WORDS, digits=7),
)

CONTACTS = (EMAIL, *PHONES)
"""The kinds of `contact_information_found`."""


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


def _of_date(year: str, month: str, day: str) -> bool:
    try:
        return date(int(year), int(month), int(day)).year >= 1900
    except ValueError:
        return False


def _resident(value: str) -> bool:
    """China, GB 11643-1999: a day, and behind 17 digits a check of mod 11-2, X for 10."""
    number = value.upper()
    total = sum(int(digit) * pow(2, 17 - place, 11) for place, digit in enumerate(number[:17]))
    return _of_date(number[6:10], number[10:12], number[12:14]) and "10X98765432"[total % 11] == number[17]


def _korean(value: str) -> bool:
    """South Korea, 13 digits: a day, and mod 11 of weights 2 to 9 and 2 to 5 (those given out since October 2020 have
    no check)."""
    digits = compact(value)
    century = {"1": "19", "2": "19", "5": "19", "6": "19"}.get(digits[6], "20")
    check = (11 - weighted(digits[:12], (*range(2, 10), *range(2, 6))) % 11) % 10
    return _of_date(century + digits[:2], digits[2:4], digits[4:6]) and check == int(digits[12])


def _swedish(value: str) -> bool:
    digits = re.sub(r"\D", "", value)
    return _of_date("20" + digits[:2], digits[2:4], digits[4:6]) and luhn(digits)


def _polish(value: str) -> bool:
    """Poland, 11 digits: a month and a day, weights 1 3 7 9 mod 10."""
    there = 1 <= int(value[2:4]) % 20 <= 12 and 1 <= int(value[4:6]) <= 31
    return there and weighted(value, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0


def _year_of_a_life(value: str) -> bool:
    """A date with a year from 1900, or of two digits."""
    year = re.search(r"(?<!\d)\d{4}(?!\d)", value)
    return year is None or 1900 <= int(year[0]) <= 2100


def _number(form: str) -> re.Pattern[str]:
    return pattern(_NUMBER.format(form))


_NINO = _number(r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D]")

IDENTITIES = (
    Kind("cn_resident_id", _number(r"[1-9]\d{16}[\dXx]"), _resident, digits=17),
    Kind("fr_nir", _number(r"[12] ?\d\d ?(?:0[1-9]|1[0-2]|[2-9]\d) ?\d\d ?\d{3} ?\d{3} ?\d\d"),
         _checked(nir), digits=15),
    Kind("it_codice_fiscale", _number(r"[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]"), codice_fiscale,
         digits=3),
    Kind("kr_rrn", _number(r"\d{6}-[1-8]\d{6}"), _korean, digits=13),
    Kind("br_cpf", _number(r"\d{3}\.\d{3}\.\d{3}-\d\d"), _checked(cpf), digits=11),
    Kind("br_cpf", _number(r"\d{11}"), cpf, words("cpf"), digits=11),
    Kind("pl_pesel", _number(r"\d{11}"), _polish, words("pesel"), digits=11),
    Kind("de_steuer_id", _number(r"\d{2} ?\d{3} ?\d{3} ?\d{3}"), _checked(steuer_id), digits=11),
    Kind("in_aadhaar", _number(r"[2-9]\d{3}[ -]?\d{4}[ -]?\d{4}"), _checked(verhoeff),
         words("aa?dhaar", "uidai", "uid", "आधार"), digits=12),
    Kind("in_pan", _number(r"[A-Z]{3}P[A-Z]\d{4}[A-Z]"), digits=4),
    Kind("es_dni", _number(r"(?:[XYZ]-?\d{7}|\d{8})-?[A-HJ-NP-TV-Z]"), _checked(dni),
         words("dni", "nie", "nif", "documento"), digits=7),
    Kind("se_personnummer", _number(r"(?:19|20)?\d{6}[-+]\d{4}"), lambda value: _swedish(value[-11:]), digits=10),
    Kind("us_ssn", pattern(_DASHED), _ssn, digits=9),
    Kind("us_ssn", pattern(_AREA_GROUP_SERIAL), _ssn, words("ssn", "social security", "ss#"), digits=9),
    Kind("us_itin", pattern(_DASHED), _itin, digits=9),
    Kind("us_itin", pattern(_AREA_GROUP_SERIAL), _itin, words("itin", "taxpayer"), digits=9),
    Kind("uk_nino", _NINO, _nino, words("nino", "national insurance", "ni number"), digits=6),
    # In groups, or not all hexadecimal digits, as a code may be.
    Kind("uk_nino", _NINO, lambda value: _nino(value) and not re.fullmatch("[0-9A-F]{9}", value), digits=6),
    Kind("uk_nhs", _number(r"\d{3}[ -]?\d{3}[ -]?\d{4}"), _checked(nhs), words("nhs"), digits=10),
    Kind("nl_bsn", _number(r"\d{9}"), bsn, words("bsn", "burgerservicenummer", "sofinummer"), digits=9),
    Kind("ca_sin", _number(r"\d{3}[ -]?\d{3}[ -]?\d{3}"), _checked(luhn), words("sin", "social insurance"),
         digits=9),
    Kind("passport", _number(r"[A-Z]{0,2} ?\d{6,9}|[A-Z]\d{2}[A-Z0-9]{5,6}"), context=words(*_PASSPORT), digits=2),
    Kind("date_of_birth", re.compile(rf"(?<![\d.])(?P<value>{_DATE})"), _year_of_a_life, words(*_BORN), digits=4),
)  # fmt: skip


PERSONAL = (EMAIL, IBAN, CARD, *IDENTITIES, *ADDRESSES, *PHONES)
"""The kinds of `pii_leakage`."""
