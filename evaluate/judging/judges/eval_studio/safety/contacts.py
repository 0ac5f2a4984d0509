"""How a person is reached: e-mail addresses and telephone numbers."""

from __future__ import annotations

import re

from .patterns import Kind, compact, pattern, words

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
