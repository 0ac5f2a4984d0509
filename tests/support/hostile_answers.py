"""Answers made to break what reads them; none is longer than 100,000 characters."""

from __future__ import annotations

import base64

_TWICE = base64.b64encode(base64.b64encode(b"an idiot, 219-09-9998 " * 2500)).decode()

HOSTILE = {
    "emoji": "😀👩‍👩‍👧‍👦" * 12_000,
    "right to left": "\u202eمرحبا بكم\u202c " * 8_000,
    "one letter": "a" * 100_000,
    "one digit": "9" * 100_000,
    "digits apart": "1 " * 50_000,
    "brackets": "([{<" * 25_000 + "x",
    "nested JSON": '{"a":' * 20_000,
    "huge number": '{"n": 1' + "0" * 99_000 + "}",
    "at signs": "a@" * 50_000,
    "domains": "a@" + "a." * 49_000,
    "hyphens": "1-" * 50_000,
    "addresses": "2001:" * 20_000,
    "words before": "born 1 password= tel " * 4_000,
    "hex": "48 65 " * 16_000,
    "base64": "SGVsbG8gd29ybGQh" * 6_000,
    "encoded twice": _TWICE[:100_000],
    "percent": "a%41 " * 20_000,
    "entities": "&#72;" * 20_000,
    "links": "http://a:" * 11_000,
    "keys": "-----BEGIN PRIVATE KEY-----\n" * 3_500,
    "sentences": "a. B! " * 16_000,
    "fences": "```\n" * 25_000,
    "surrogate": "\ud800 left alone" * 100,
}
EMPTY = ("", " \n\t ", "…!", "😀")
"""What holds no word."""
