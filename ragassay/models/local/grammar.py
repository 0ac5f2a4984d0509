"""A JSON schema as a strict GBNF grammar, for llama.cpp: no free white space, and no string or list without an end.

llama.cpp's own conversion allows white space between any two tokens, which a small model fills until its context is
full. What a grammar cannot say (patterns, formats, wide ranges) is left to the check of the reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

STRING_CHARS = 600
"""The longest string, in characters, where the schema sets no `maxLength`."""

ARRAY_ITEMS = 20
"""The longest array where the schema sets no `maxItems`."""

_CHAR = r'[^"\\\x00-\x1F\x7F] | "\\" ["\\/nt]'
_DIGITS = 9
_ENUMERATED = 100
_NUMERIC = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")

Schema = Mapping[str, Any]


def grammar_for(schema: Schema) -> str:
    """The GBNF grammar of the compact JSON texts that fit `schema`, one rule a line, `root` first.

    Objects carry all their properties, in the schema's order. Raises ValueError for what has no strict grammar: a
    schema without a type, or an object of unnamed properties.
    """
    return _Grammar(schema).text()


def grammar_for_tokens(tokens: Sequence[str]) -> str:
    """The grammar of a reply that is one of `tokens` and nothing else."""
    if not tokens:
        raise ValueError("no tokens to choose from")
    return f"root ::= {' | '.join(_literal(token) for token in tokens)}\n"


class _Grammar:
    """The rules made so far; a definition is made once and referred to by name, so that it may refer to itself."""

    def __init__(self, schema: Schema) -> None:
        self.definitions: Schema = schema.get("$defs", {})
        self.rules: dict[str, str] = {"root": ""}
        self.rules["root"] = self.expression(schema)

    def text(self) -> str:
        return "".join(f"{name} ::= {body}\n" for name, body in self.rules.items())

    def expression(self, schema: Schema) -> str:
        """What stands on a rule's right side, or in it, for `schema`."""
        if "$ref" in schema:
            return self.reference(schema["$ref"])
        if "const" in schema:
            return _json_literal(schema["const"])
        if "enum" in schema:
            return _either(_json_literal(value) for value in schema["enum"])
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return _either(self.expression(option) for option in schema[key])
        if len(schema.get("allOf", ())) == 1:
            return self.expression(schema["allOf"][0])
        return self.of_type(schema)

    def of_type(self, schema: Schema) -> str:
        kind = schema.get("type")
        if isinstance(kind, list):
            return _either(self.of_type({**schema, "type": one}) for one in kind)
        makers: dict[str, Callable[[Schema], str]] = {
            "object": self.object,
            "array": self.array,
            "string": self.string,
            "integer": _integer,
            "number": _number,
            "boolean": lambda _: '("true" | "false")',
            "null": lambda _: '"null"',
        }
        if kind not in makers:
            raise ValueError(f"no strict grammar for the schema {json.dumps(schema, sort_keys=True)[:200]}")
        return makers[kind](schema)

    def reference(self, reference: str) -> str:
        name = reference.removeprefix("#/$defs/")
        if name not in self.definitions:
            raise ValueError(f"the schema refers to {reference}, which it does not define")
        rule = f"def{sorted(self.definitions).index(name)}-{re.sub('[^A-Za-z0-9]', '-', name)}"
        if rule not in self.rules:
            self.rules[rule] = ""
            self.rules[rule] = self.expression(self.definitions[name])
        return rule

    def object(self, schema: Schema) -> str:
        properties = schema.get("properties", {})
        if not properties and schema.get("additionalProperties") is not False:
            raise ValueError("no strict grammar for an object of unnamed properties")
        parts = [f"{_literal(_compact(key) + ':')} {self.expression(value)}" for key, value in properties.items()]
        return " ".join(['"{"', ' "," '.join(parts), '"}"']) if parts else '"{}"'

    def array(self, schema: Schema) -> str:
        if "prefixItems" in schema:
            items = ' "," '.join(self.expression(item) for item in schema["prefixItems"])
            return f'"[" {items} "]"'
        low = int(schema.get("minItems", 0))
        high = int(schema.get("maxItems", max(low, ARRAY_ITEMS)))
        if high == 0:
            return '"[]"'
        item = self.repeatable(self.expression(schema.get("items", {})))
        more = f'"[" {item} ("," {item}){{{max(low - 1, 0)},{high - 1}}} "]"' if high > 1 else f'"[" {item} "]"'
        return more if low else f'("[]" | {more})'

    def repeatable(self, expression: str) -> str:
        """`expression`, behind a rule's name where it repeats something itself.

        llama.cpp writes a repetition out, and refuses the grammar where one within another grows too long.
        """
        if "{" not in expression:
            return expression
        rule = next((name for name, body in self.rules.items() if body == expression), f"item{len(self.rules)}")
        self.rules[rule] = expression
        return rule

    def string(self, schema: Schema) -> str:
        self.rules["char"] = _CHAR
        low = int(schema.get("minLength", 0))
        high = int(schema.get("maxLength", max(low, STRING_CHARS)))
        return rf'"\"" char{{{low},{high}}} "\""' if high else r'"\"\""'


def _integer(schema: Schema) -> str:
    low, high = _whole_bounds(schema)
    if low is not None and high is not None and high - low < _ENUMERATED:
        return _either(_json_literal(value) for value in range(low, high + 1))
    sign = "" if low is not None and low >= 0 else '"-"? '
    return f'{sign}("0" | [1-9] [0-9]{{0,{_DIGITS - 1}}})'


def _number(schema: Schema) -> str:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    sign = "" if low is not None and low >= 0 else '"-"? '
    return f'{sign}("0" | [1-9] [0-9]{{0,{_DIGITS - 1}}}) ("." [0-9]{{1,{_DIGITS}}})?'


def _whole_bounds(schema: Schema) -> tuple[int | None, int | None]:
    minimum, maximum, above, below = (schema.get(key) for key in _NUMERIC)
    low = int(minimum) if minimum is not None else int(above) + 1 if above is not None else None
    high = int(maximum) if maximum is not None else int(below) - 1 if below is not None else None
    return low, high


def _either(options: Iterable[str]) -> str:
    alternatives = list(options)
    if not alternatives:
        raise ValueError("the schema allows no value")
    return alternatives[0] if len(alternatives) == 1 else f"({' | '.join(alternatives)})"


def _json_literal(value: Any) -> str:
    return _literal(_compact(value))


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _literal(text: str) -> str:
    """`text` as a quoted GBNF literal."""
    named = {'"': r"\"", "\\": r"\\", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
    return '"' + "".join(named.get(char) or (char if char.isprintable() else _escape(char)) for char in text) + '"'


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
