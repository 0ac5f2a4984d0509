"""Untrusted text made fit to be shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

MODEL_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "COHERE_API_KEY", "JINA_API_KEY", "RERANK_API_KEY")
"""The variables whose values are sent to models' servers."""

_BLANK = "…"
_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)$", re.IGNORECASE)
_SHORTEST = 8
_VALUE = r"""[^\s"'&,;<>(){}\[\]…]{6,}"""
_LOOK = re.compile(
    r"\b(?:sk-(?=[\w-]*\d)[\w-]{12,}|(?:hf|gsk|gh[pousr]|xai|pplx|nvapi)[-_][\w-]{16,}|AKIA[0-9A-Z]{16}"
    r"|AIza[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]+)?)"
)
"""What a key begins with: OpenAI and Anthropic, Hugging Face, Groq, GitHub, xAI, Perplexity, AWS, Google; JWT."""
_NAMED = (
    re.compile(rf"(\b(?:Bearer|Basic)\s+){_VALUE}", re.IGNORECASE),
    re.compile(
        rf"""(\b(?:x-)?(?:api[-_]?key|(?:access|auth|refresh|session|security)[-_]?token|client[-_]?secret|
        secret[-_]?(?:access[-_]?)?key)["']?\s*[:=]\s*["']?){_VALUE}""",
        re.IGNORECASE | re.VERBOSE,
    ),
    re.compile(rf"(\b(?:key|token|sig|signature|secret|password|passwd)=){_VALUE}", re.IGNORECASE),
    re.compile(r"(://[^/@:\s]*:)[^@\s/]+(?=@)"),
)


def without_keys(text: str) -> str:
    """`text` with "…" for what looks like a key, a token or a password, and for those of this process's environment."""
    secret = {value for name, value in os.environ.items() if _NAME.search(name) and len(value) >= _SHORTEST}
    for value in sorted(secret, key=len, reverse=True):
        text = text.replace(value, _BLANK)
    text = _LOOK.sub(_BLANK, text)
    for named in _NAMED:
        text = named.sub(rf"\1{_BLANK}", text)
    return text


def without_own_keys(value: Any) -> Any:
    """A JSON value with "…" for the keys that we send to models' servers, wherever they stand in its texts.

    Nothing else is blanked: a reply may speak of what looks like a key.
    """
    keys = {os.environ.get(name, "") for name in MODEL_KEYS}
    own = sorted((key for key in keys if len(key) >= _SHORTEST), key=len, reverse=True)
    return _blanked(value, own) if own else value


def _blanked(value: Any, own: list[str]) -> Any:
    if isinstance(value, str):
        for key in own:
            value = value.replace(key, _BLANK)
        return value
    if isinstance(value, list):
        return [_blanked(one, own) for one in value]
    if isinstance(value, dict):
        return {_blanked(name, own): _blanked(one, own) for name, one in value.items()}
    return value


_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def plain(text: str) -> str:
    """`text` with control, escape and direction characters made visible, fit for a terminal or a one-line message."""
    return _UNSAFE.sub(lambda m: f"\\x{ord(m.group()):02x}", text)


_JOINERS = re.compile("[\u200c\u200d]+")
_HIDDEN = re.compile("[\u061c\u180e\u2060-\u206f\ufff9-\ufffb\U000e0000-\U000e007f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NEWLINE = re.compile("\r\n?|[\u2028\u2029\x0b\x0c\x85]")


def untrusted(text: object) -> str:
    """Text from a document, a model or a user, with what steers a terminal or turns the reading direction made visible.

    Line ends become newlines. The joiners of Persian, the Indic scripts and emoji stay: they reorder nothing.
    """
    given = str(text)
    if given.isprintable():  # most is, and all that is made visible is not
        return given
    whole = _SURROGATE.sub("\ufffd", _NEWLINE.sub("\n", given))
    joined, parts = _JOINERS.findall(whole), _JOINERS.split(whole)
    shown = [_HIDDEN.sub(lambda m: f"\\x{ord(m.group()):02x}", plain(part)) for part in parts]
    return "".join(part + joiner for part, joiner in zip(shown, [*joined, ""], strict=True))


def writable(text: str) -> str:
    """`text` with "?" for lone surrogates, which are no text: no model, request or UTF-8 file takes them."""
    return text.encode("utf-8", "replace").decode()


def one_line(text: object) -> str:
    """`untrusted` text with every run of white space made one space."""
    return " ".join(untrusted(text).split())


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; empty without any."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def some_of(texts: Iterable[str], most: int = 3) -> str:
    """The first of them: `a, b, c`, or `a, b, c, …` where there are more."""
    given = list(texts)
    return ", ".join(given[:most]) + (", …" if len(given) > most else "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean 'model'? ` for the one of `known` that is nearest to a misspelt name; empty where none is near."""
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), 1)
    return f"did you mean '{plain(near[0])}'? " if near else ""


def same_words(text: str) -> str:
    """What two texts share that differ in case and white space alone; empty for one without a letter or digit."""
    return " ".join(text.split()).casefold() if any(map(str.isalnum, text)) else ""


_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""What spreadsheets take for the start of a formula, full-width forms among them."""


def safe_cell(text: str) -> str:
    """`text` as a spreadsheet shows it and never runs it: what might begin a formula gets an apostrophe before it."""
    told = untrusted(text)
    return f"'{told}" if told.lstrip().startswith(_FORMULA) or told.startswith(("\t", "\r", "\n")) else told


_RISKY = re.compile(r"'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])")


def csv_cell(text: str) -> str:
    """`text` for a cell of CSV that is read back: an apostrophe before what a spreadsheet might run, nothing else.

    `csv_text` takes the apostrophe away again: of every text, what comes back is the same.
    """
    return f"'{text}" if _RISKY.match(text) else text


def csv_of(rows: Iterable[Iterable[object]], line_end: str = "\r\n") -> str:
    """The rows as CSV (RFC 4180); None is an empty cell."""
    from csv import writer
    from io import StringIO

    stream = StringIO(newline="")
    writer(stream, lineterminator=line_end).writerows(rows)
    return stream.getvalue()


def csv_text(cell: str) -> str:
    """What `csv_cell` was made of."""
    return cell[1:] if cell.startswith("'") and _RISKY.match(cell[1:]) else cell
