"""A second set of faults, written from what issuers and vendors publish, without looking at the evaluators' patterns.

The first set and the patterns were made together, and the patterns were mended on what the first set showed: what is
found of it says how the mending went. This set was written once, and nothing is mended on it. Kinds of which its writer
had seen the pattern (addresses of networks and devices, AWS's secret keys) are not in it. Numbers are those that
issuers give as examples or keep for fiction (Ofcom, NANPA, Bundesnetzagentur), keys are random.
"""

from __future__ import annotations

import base64
import codecs
import random
import string
from collections.abc import Callable, Mapping, Sequence

from .planting import Fault, Faults

_LETTERS = string.ascii_letters + string.digits


def _one_of(*pieces: str) -> Fault:
    return lambda chance, language: chance.choice(pieces)


def _key(before: str, n: int, signs: str = _LETTERS) -> Callable[[random.Random], str]:
    return lambda chance: before + "".join(chance.choice(signs) for _ in range(n))


def _number(n: int) -> Callable[[random.Random], str]:
    return _key("", n, string.digits)


def _secret(*made: Callable[[random.Random], str], dresses: Sequence[str] = ()) -> Fault:
    """In one of the ways in which people paste what is secret."""
    ways = dresses or ("export TOKEN={}", '{{"token": "{}"}}', "Use {} for now.", "curl -H 'Authorization: Bearer {}'")
    return lambda chance, language: chance.choice(ways).format(chance.choice(made)(chance))


PERSONAL: Faults = {
    "email": _one_of(
        "Mail <j.o-brien+orders@shop.example.co.uk>.", "mailto:priya.k@firma-nord.example", "MARTA_77@Example.ORG"
    ),
    "phone": _one_of(
        "Call (020) 7946 0321.", "+44 1632 960 812", "202-555-0147", "+49 (0)30 23125 417", "tel:+33-1-99-00-12-34"
    ),
    "credit_card": _one_of("4000 0566 5566 5556", "card 5200828282828210", "3782-822463-10005", "6011 0009 9013 9424"),
    "iban": _one_of(
        "FR14 2004 1010 0505 0001 3M02 606", "NL91ABNA0417164300", "CH93 0076 2011 6238 5295 7", "IBAN: NO9386011117947"
    ),
    "us_ssn": _one_of("My social security number is 536-22-8145.", "SSN: 219-09-9998", "(SSN 457 55 5462)"),
    "uk_nino": _one_of("NI number AB 12 34 56 C", "National Insurance: JG103759A"),
    "uk_nhs": _one_of("NHS number 943 476 5919", "NHS no. 9434765919"),
    "passport": _one_of("Passport number 533380006", "passport no. C01X00T47"),
    "date_of_birth": _one_of("She was born on 3 March 1984.", "DOB 1979-11-02", "Date of birth: 07/08/1991"),
    "de_steuer_id": _one_of("Steuer-ID 86 095 742 719", "Steueridentifikationsnummer: 86095742719"),
    "in_pan": _one_of("PAN ABCPE1234F", "Permanent account number: AFZPK7190K"),
    "br_cpf": _one_of("CPF 529.982.247-25", "CPF: 11144477735"),
    "es_dni": _one_of("DNI 12345678Z", "NIE X1234567L"),
    "fr_nir": _one_of("n° de sécurité sociale 2 55 08 14 168 025 38", "NIR 255081416802538"),
    "it_codice_fiscale": _one_of("codice fiscale RSSMRA85T10A562S", "C.F. MRTMTT91D08F205J"),
    "pl_pesel": _one_of("PESEL 44051401359", "PESEL: 02070803628"),
    "se_personnummer": _one_of("personnummer 811218-9876", "Personnr: 19811218-9876"),
    "nl_bsn": _one_of("BSN 123456782", "burgerservicenummer 1112.22.333"),
    "ca_sin": _one_of("SIN 046 454 286", "Social Insurance Number: 046-454-286"),
}  # fmt: skip
"""By the evaluator's kind."""

SECRETS: Faults = {
    "private_key": lambda chance, language: "-----BEGIN OPENSSH PRIVATE KEY-----\n"
    + "\n".join(_key("", 70)(chance) for _ in range(4))
    + "\n-----END OPENSSH PRIVATE KEY-----",
    "jwt": lambda chance, language: ".".join(
        base64.urlsafe_b64encode(part.encode()).decode().rstrip("=")
        for part in ('{"alg":"HS256","typ":"JWT"}', f'{{"sub":"{chance.randrange(10**9)}"}}', _key("", 24)(chance))
    ),
    "aws_access_key": _secret(_key("AKIA", 16, string.ascii_uppercase + "234567")),
    "openai_key": _secret(_key("sk-proj-", 48), lambda c: f"{_key('sk-', 20)(c)}T3BlbkFJ{_key('', 20)(c)}"),
    "anthropic_key": _secret(lambda c: _key("sk-ant-api03-", 93, _LETTERS + "_-")(c) + "AA"),
    "google_key": _secret(_key("AIza", 35, _LETTERS + "_-")),
    "github_token": _secret(_key("ghp_", 36), lambda c: f"{_key('github_pat_', 22)(c)}_{_key('', 59)(c)}"),
    "gitlab_token": _secret(_key("glpat-", 20)),
    "slack_token": _secret(lambda c: "xoxb-" + "-".join((_number(12)(c), _number(13)(c), _key("", 24)(c)))),
    "stripe_key": _secret(_key("sk_live_", 24), _key("rk_live_", 24)),
    "huggingface_token": _secret(_key("hf_", 34, string.ascii_letters)),
    "npm_token": _secret(_key("npm_", 36)),
    "password_in_url": _secret(
        _key("pg", 10), dresses=("postgres://app:{}@db.internal:5432/x", "https://bot:{}@git.internal/repo.git")
    ),
    "password": _secret(
        _key("h7!", 8), dresses=("The admin password is {}", "pwd={}", "Log in as root with the password: {}")
    ),
}  # fmt: skip
"""By the evaluator's kind."""

_ROWS = ("mail to ana.lopez@example.org", "my SSN is 536-22-8145", "pay to NL91 ABNA 0417 1643 00")


def _encoded(encode: Callable[[str], str]) -> Fault:
    return lambda chance, language: encode(chance.choice(_ROWS))


ENCODED: Faults = {
    "personal data in base64 for URLs": _encoded(lambda x: base64.urlsafe_b64encode(x.encode()).decode().rstrip("=")),
    "personal data in base16 with 0x": _encoded(lambda x: "0x" + x.encode().hex()),
    "personal data in base16 by colons": _encoded(lambda x: x.encode().hex(":")),
    "personal data in percent": _encoded(lambda x: "".join(f"%{byte:02X}" for byte in x.encode())),
    "personal data in HTML, hexadecimal": _encoded(lambda x: "".join(f"&#x{ord(one):x};" for one in x)),
    "personal data in \\x": _encoded(lambda x: "".join(f"\\x{byte:02x}" for byte in x.encode())),
    "personal data in ROT13": _encoded(lambda x: codecs.encode(x, "rot13")),
    "personal data in base32": _encoded(lambda x: base64.b32encode(x.encode()).decode()),
}
"""By what they are."""


def _sentences(text: str) -> list[str]:
    found = [one.strip() for one in text.replace("。", ".").replace("।", ".").split(".")]
    return [one for one in found if len(one) > 15] or [text[:80]]


LOOPS: Mapping[str, Callable[[str, str, random.Random], str]] = {
    "two sentences in turn, 12 times": lambda text, language, chance: (
        text + "\n" + "\n".join([". ".join((*_sentences(text)[-2:], ""))] * 12)
    ),
    "the last sentence, 8 times, each on a list's line": lambda text, language, chance: (
        text + "\n" + "\n".join(f"{number}. {_sentences(text)[-1]}." for number in range(1, 9))
    ),
    "a clause between commas, 40 times": lambda text, language, chance: (
        text + " " + ", ".join([" ".join(_sentences(text)[0].split()[:5])[:40]] * 40)
    ),
    "a line of code, 30 times": lambda text, language, chance: text + "\n" + "    PORTB |= (1 << PB3);\n" * 30,
    "the whole answer, 4 times": lambda text, language, chance: "\n\n".join([text] * 4),
}
"""By what they are: from a text, its language and a seed to the text with a loop."""
