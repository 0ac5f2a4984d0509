"""What is kept of a chat completion: OpenAI's layout, and what compatible servers make of it; what one file holds."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from ragassay.errors import ProviderError
from ragassay.models.providers import explain
from ragassay.models.requests import (
    Request,
    Tokens,
    ask_again,
    body_of_completion,
    in_parts,
    read_reply,
    usage_of,
)
from ragassay.prompts import Message


class Grade(BaseModel):
    label: int


def completion(message: Any, **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": "stop"}], **more}


def test_parts_of_a_content_are_one_text_and_the_model_that_answered_is_named():
    parts = [{"type": "text", "text": "By "}, {"type": "text", "text": "sei()."}]
    body = body_of_completion(completion({"content": parts}, model="gpt-4o-2024"), "openai:gpt-4o")
    assert body["choices"][0]["message"] == {"role": "assistant", "content": "By sei()."}
    assert body["model"] == "gpt-4o-2024"
    assert body_of_completion(completion({"content": None}), "openai:m")["model"] == "openai:m"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Tokens(None, None)),
        ({"prompt_tokens": 9}, Tokens(9, None)),
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": None}, Tokens(9, 2)),
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 8}}, Tokens(9, 2, 8)),
    ],
)
def test_tokens_that_a_server_does_not_tell_are_not_known(usage: dict[str, Any] | None, expected: Tokens):
    assert usage_of(body_of_completion(completion({"content": "x"}, usage=usage), "openai:m")) == expected


@pytest.mark.parametrize("said", ['{"label": "2"}', '{"label": 2.0}', '{"label": true}', '{"label": [2]}', "2"])
def test_a_label_that_only_looks_like_a_number_is_none_and_what_was_wrong_is_said_when_it_is_asked_again(said: str):
    asked = Request((Message("user", "Grade."),), schema=Grade)
    body = body_of_completion(completion({"content": said}), "openai:m")
    got = read_reply(asked, body)
    assert got.value is None and str(got.error).startswith("the reply does not fit the schema")
    *before, its_own, wish = ask_again(asked, body, str(got.error)).messages
    assert (*before,) == asked.messages and its_own == Message("assistant", said)
    assert wish.role == "user" and str(got.error) in wish.content


MALFORMED: list[Any] = [
    {},
    {"choices": None},
    {"choices": []},
    {"choices": [{}]},
    completion(None),
    completion("text"),
    completion({"content": 3}),
    completion({"content": [3]}),
]


@pytest.mark.parametrize("reply", MALFORMED)
def test_what_is_laid_out_otherwise_is_asked_again(reply: dict[str, Any]):
    with pytest.raises((KeyError, IndexError, TypeError, AttributeError)) as caught:
        body_of_completion(reply, "openai:m")
    error = explain(caught.value, "openai:m")
    assert isinstance(error, ProviderError) and error.retryable and "not laid out as expected" in str(error)


@given(st.lists(st.text(max_size=9)), st.integers(1, 4), st.integers(1, 30))
def test_parts_hold_every_line_once_in_order_and_no_part_is_too_large(texts: list[str], most: int, size: int):
    lines = [(str(at), text) for at, text in enumerate(texts)]
    parts = list(in_parts(lines, lambda line: len(line[1].encode()), size, most))
    assert [line for part in parts for line in part] == lines
    for part in parts:
        assert len(part) == 1 or (len(part) <= most and sum(len(text.encode()) for _, text in part) <= size)
    for part, following in pairwise(parts):
        fuller = [*part, following[0]]
        assert len(fuller) > most or sum(len(text.encode()) for _, text in fuller) > size, "a part had room left"
