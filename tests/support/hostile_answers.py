"""Answers made to break what reads them; none is longer than 20,000 characters."""

from __future__ import annotations

import base64

_TWICE = base64.b64encode(base64.b64encode(b"an idiot, 219-09-9998 " * 500)).decode()

HOSTILE = {
    "emoji": "😀👩‍👩‍👧‍👦" * 2_400,
    "right to left": "\u202eمرحبا بكم\u202c " * 1_600,
    "one letter": "a" * 20_000,
    "one digit": "9" * 20_000,
    "digits apart": "1 " * 10_000,
    "brackets": "([{<" * 5_000 + "x",
    "nested JSON": '{"a":' * 4_000,
    "huge number": '{"n": 1' + "0" * 19_800 + "}",
    "at signs": "a@" * 10_000,
    "domains": "a@" + "a." * 9_800,
    "hyphens": "1-" * 10_000,
    "addresses": "2001:" * 4_000,
    "words before": "born 1 password= tel " * 800,
    "hex": "48 65 " * 3_200,
    "base64": "SGVsbG8gd29ybGQh" * 1_200,
    "encoded twice": _TWICE[:20_000],
    "percent": "a%41 " * 4_000,
    "entities": "&#72;" * 4_000,
    "links": "http://a:" * 2_200,
    "keys": "-----BEGIN PRIVATE KEY-----\n" * 700,
    "sentences": "a. B! " * 3_200,
    "fences": "```\n" * 5_000,
    "surrogate": "\ud800 left alone" * 100,
}
EMPTY = ("", " \n\t ", "…!", "😀")
"""What holds no word."""
