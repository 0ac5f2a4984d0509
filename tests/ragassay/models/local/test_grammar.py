"""JSON schemas as GBNF grammars: read back as regular expressions, and held against pydantic in both directions."""

from __future__ import annotations

import json
import re
from typing import Any, Literal, Union

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, create_model

from ragassay.models.local.model import ARRAY_ITEMS, STRING_CHARS, grammar_for, grammar_for_tokens

TOKEN = re.compile(r'\s+|"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|[A-Za-z][A-Za-z0-9-]*|[()|*+?]|\{\d+,\d+\}')


def as_regex(grammar: str) -> str:
    """A GBNF grammar without recursion as a Python regular expression; every character of it must be understood."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.rstrip("\n").split("\n"))

    def expand(body: str) -> str:
        parts, at = [], 0
        while at < len(body):
            match = TOKEN.match(body, at)
            assert match, f"not GBNF at {body[at : at + 40]!r}"
            parts.append(translate(match[0]))
            at = match.end()
        return f"(?:{''.join(parts)})"

    def translate(token: str) -> str:
        if token.isspace():
            return ""
        if token[0] == '"':
            return re.escape(json.loads(re.sub(r"\\x(..)", r"\\u00\1", token)))
        if token[0].isalpha():
            return expand(rules[token])
        return "(?:" if token == "(" else token

    return expand(rules["root"])


def fits(grammar: str, text: str) -> bool:
    return re.fullmatch(as_regex(grammar), text) is not None


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    text: str = Field(min_length=1, max_length=12)
    number: int = Field(ge=-3, le=4)


types: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([int, float, bool, str, None, Inner, Literal["a", 'say "b"', "c\\d"], Literal[0, 1, 2]]),
    lambda inner: st.one_of(
        inner.map(lambda kind: list[kind]),  # type: ignore[valid-type]
        st.tuples(inner, inner).map(lambda pair: Union[pair]),  # noqa: UP007
        st.tuples(inner, inner).map(lambda pair: tuple[pair]),  # type: ignore[valid-type]
    ),
    max_leaves=3,
)
models = st.dictionaries(st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True), types, min_size=1, max_size=4).map(
    lambda fields: create_model(
        "M",
        __config__=ConfigDict(extra="forbid", protected_namespaces=()),
        **{f"f_{name}": (kind, ...) for name, kind in fields.items()},
    )
)


@given(models, st.data())
def test_what_the_grammar_allows_fits_the_schema(model: type[BaseModel], data: st.DataObject) -> None:
    text = data.draw(st.from_regex(as_regex(grammar_for(model.model_json_schema())), fullmatch=True))
    model.model_validate_json(text)


@given(st.text(max_size=STRING_CHARS), st.integers(-3, 4), st.sampled_from(["a", 'say "b"', None]))
def test_what_fits_the_schema_is_allowed_by_the_grammar(text: str, number: int, choice: str | None) -> None:
    class Reply(BaseModel):
        reason: str
        number: int = Field(ge=-3, le=4)
        choice: Literal["a", 'say "b"'] | None

    writable = not re.search(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", text)
    written = json.dumps(
        {"reason": text, "number": number, "choice": choice}, ensure_ascii=False, separators=(",", ":")
    )
    assert fits(grammar_for(Reply.model_json_schema()), written) == writable


@pytest.mark.parametrize(
    ("schema", "allowed", "refused"),
    [
        ({"type": "string", "maxLength": 3}, ['""', '"abc"', r'"\"\n\\"'], ['"abcd"', "abc", '"a', '"\n"', r'"\q"']),
        ({"type": "string", "minLength": 2, "maxLength": 2}, ['"ab"', '"äß"'], ['"a"', '"abc"']),
        ({"type": "string"}, [f'"{"x" * STRING_CHARS}"'], [f'"{"x" * (STRING_CHARS + 1)}"']),
        ({"type": "integer"}, ["0", "-7", "123"], ["007", "1.0", "", "--1", " 1", "9" * 12]),
        ({"type": "integer", "minimum": 0}, ["0", "5000"], ["-1"]),
        ({"type": "integer", "minimum": 0, "maximum": 2}, ["0", "1", "2"], ["3", "-1", "02", "0 "]),
        ({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 3}, ["1", "2"], ["0", "3"]),
        ({"type": "number"}, ["0", "-1.5", "3.25"], ["1.", ".5", "1e9", "NaN"]),
        ({"type": "boolean"}, ["true", "false"], ["True", "1"]),
        ({"type": ["string", "null"], "maxLength": 1}, ['"a"', "null"], ["0"]),
        ({"const": "ja"}, ['"ja"'], ['"nein"', "ja"]),
        ({"enum": ["a", 1, None]}, ['"a"', "1", "null"], ["a", '"1"']),
        ({"type": "array", "items": {"type": "boolean"}, "maxItems": 2}, ["[]", "[true,false]"], ["[true,]", "[ ]"]),
        ({"type": "array", "items": {"const": 1}, "minItems": 2, "maxItems": 3}, ["[1,1]", "[1,1,1]"], ["[1]", "[]"]),
        ({"type": "array", "items": {"const": 1}, "minItems": 1, "maxItems": 1}, ["[1]"], ["[]", "[1,1]"]),
        ({"type": "array", "items": {"const": 1}, "maxItems": 0}, ["[]"], ["[1]"]),
        ({"type": "array", "items": {"const": 1}}, [f"[{','.join('1' * ARRAY_ITEMS)}]"], [f"[{',1' * 21}]"[0:1]]),
        (
            {"type": "object", "properties": {"b": {"const": 1}, "a": {"const": 2}}, "required": ["b"]},
            ['{"b":1,"a":2}'],
            ['{"a":2,"b":1}', '{"b": 1,"a":2}', '{"b":1}', '{ "b":1,"a":2}', '{"b":1,"a":2}\n'],
        ),
        ({"type": "object", "properties": {}, "additionalProperties": False}, ["{}"], ["{ }"]),
    ],
)
def test_each_kind_of_schema(schema: dict[str, Any], allowed: list[str], refused: list[str]) -> None:
    grammar = grammar_for(schema)
    assert [text for text in allowed if not fits(grammar, text)] == []
    assert [text for text in refused if fits(grammar, text)] == []


def test_a_type_that_contains_itself_is_a_rule_that_does() -> None:
    class Tree(BaseModel):
        name: str = Field(max_length=3)
        children: list[Tree] = Field(max_length=2)

    grammar = grammar_for(Tree.model_json_schema())
    assert grammar.count("def0-Tree ::=") == 1
    assert "def0-Tree" in grammar.split("def0-Tree ::=")[1]


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "array"}, {"$ref": "#/$defs/none"}, {"enum": []}])
def test_schemas_without_a_strict_grammar_are_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"schema|object"):
        grammar_for(schema)


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=5), min_size=1, max_size=4))
def test_tokens_and_nothing_else(tokens: list[str]) -> None:
    grammar = grammar_for_tokens(tokens)
    assert grammar.count("\n") == 1
    if all(ord(char) < 0x10000 for char in "".join(tokens)):
        assert all(fits(grammar, token) for token in tokens)
        assert not fits(grammar, "".join(tokens) + "!")
    with pytest.raises(ValueError, match="no tokens"):
        grammar_for_tokens([])
