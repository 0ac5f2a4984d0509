"""A condition on a text: quoted literals and `regexp{…}` with AND, OR, NOT and parentheses.

    condition = both { "OR" both }
    both      = one { "AND" one }
    one       = { "NOT" } ( "(" condition ")" | literal | regexp )
    literal   = "…" or '…', with a backslash before a quotation mark or a backslash of its own
    regexp    = "regexp{" pattern "}", braces in pairs or with a backslash before them

A literal holds where it stands in the text, case sensitive; a pattern where RE2 finds it anywhere. RE2 takes time that
grows with the text and not beyond, whatever the pattern, and knows no back references and no lookaround.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .safe_patterns import PatternError, compiled, found

LONGEST = 10_000
DEEPEST = 50
"""Of a condition: characters, and parentheses within one another."""

_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'", re.DOTALL)
_WORD = re.compile(r"(AND|OR|NOT)\b|[()]")
_SPACE = re.compile(r"\s*")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_BEGINS = "regexp{"


class ConditionError(ValueError):
    """What is wrong with a condition, and at which character."""


class Condition:
    """Something that holds of a text or does not."""

    def holds(self, text: str) -> bool:
        """Whether it does."""
        raise NotImplementedError


@dataclass(frozen=True)
class Literal(Condition):
    """Holds where the text stands in it."""

    text: str

    def holds(self, text: str) -> bool:
        """Case sensitive."""
        return self.text in text


@dataclass(frozen=True)
class Pattern(Condition):
    """Holds where the pattern is found."""

    pattern: str

    def holds(self, text: str) -> bool:
        """Anywhere in the text."""
        return found(self.pattern, text)


@dataclass(frozen=True)
class Joined(Condition):
    """All of its parts, or any."""

    parts: tuple[Condition, ...]
    every: bool

    def holds(self, text: str) -> bool:
        """From the left, as far as is needed."""
        return (all if self.every else any)(part.holds(text) for part in self.parts)


@dataclass(frozen=True)
class Not(Condition):
    """The contrary of another."""

    part: Condition

    def holds(self, text: str) -> bool:
        """Where the other does not."""
        return not self.part.holds(text)


@dataclass(frozen=True)
class _Token:
    kind: str
    value: Any
    place: int


def condition_of(text: str) -> Condition:
    """Raises ConditionError, and MissingExtra where it has a pattern and google-re2 is not installed."""
    if len(text) > LONGEST:
        raise ConditionError(f"it has {len(text):,} characters, and at most {LONGEST:,} are taken")
    reader = _Reader([*_tokens(text), _Token("end", None, len(text))])
    whole = reader.condition(0)
    reader.take("end")
    return whole


class _Reader:
    """Recursive descent over the tokens."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens, self.at = tokens, 0

    def condition(self, depth: int) -> Condition:
        """What OR joins."""
        return self.joined("OR", depth)

    def joined(self, word: str, depth: int) -> Condition:
        """One part, or several with the word between them; AND binds more closely than OR."""
        parts: list[Condition] = []
        while not parts or self.goes_on(word):
            parts.append(self.joined("AND", depth) if word == "OR" else self.one(depth))
        return parts[0] if len(parts) == 1 else Joined(tuple(parts), every=word == "AND")

    def goes_on(self, word: str) -> bool:
        """Step over the word where it comes next."""
        comes = self.tokens[self.at].kind == word
        self.at += comes
        return comes

    def one(self, depth: int) -> Condition:
        """A literal, a pattern or something in parentheses, and whether it is denied."""
        denied = False
        while self.goes_on("NOT"):
            denied = not denied
        if self.goes_on("("):
            if depth == DEEPEST:
                raise ConditionError(f"more than {DEEPEST} parentheses stand within one another")
            inner = self.condition(depth + 1)
            self.take(")")
        else:
            inner = self.take("text").value
        return Not(inner) if denied else inner

    def take(self, kind: str) -> _Token:
        """The next token, which must be of this kind."""
        token = self.tokens[self.at]
        if token.kind != kind:
            wanted = {"text": 'a quoted text, regexp{…} or "("', ")": '")"', "end": "AND, OR or the end"}[kind]
            raise ConditionError(f"at character {token.place + 1}: {wanted} is missing")
        self.at += 1
        return token


def _tokens(text: str) -> Iterator[_Token]:
    at = _SPACE.match(text).end()  # type: ignore[union-attr]
    while at < len(text):
        token, end = _token(text, at)
        yield token
        at = _SPACE.match(text, end).end()  # type: ignore[union-attr]


def _token(text: str, at: int) -> tuple[_Token, int]:
    if word := _WORD.match(text, at):
        return _Token(word[0], None, at), word.end()
    if quoted := _QUOTED.match(text, at):
        inside = re.sub(r"\\([\"'\\])", r"\1", quoted[0][1:-1])
        if not inside:
            raise ConditionError(f"at character {at + 1}: an empty text stands in every text")
        return _Token("text", Literal(inside), at), quoted.end()
    if text.startswith(_BEGINS, at):
        end = _closing(text, at + len(_BEGINS))
        return _Token("text", _pattern(text[at + len(_BEGINS) : end], at), at), end + 1
    raise ConditionError(f"at character {at + 1}: neither AND, OR, NOT, a parenthesis, a quoted text nor regexp{{…}}")


def _closing(text: str, at: int) -> int:
    """The place of the brace that closes the one before `at`."""
    open_braces = 1
    for brace in _BRACE.finditer(text, at):
        open_braces += {"{": 1, "}": -1}.get(brace[0], 0)
        if not open_braces:
            return brace.start()
    raise ConditionError(f"at character {at - len(_BEGINS) + 1}: regexp{{ has no closing brace")


def _pattern(pattern: str, at: int) -> Condition:
    try:
        compiled(pattern)
    except PatternError as error:
        raise ConditionError(f"at character {at + 1}: {error}") from None
    return Pattern(pattern)
