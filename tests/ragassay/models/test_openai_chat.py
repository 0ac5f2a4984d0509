"""Our way to chat completions asks what LangChain's own asks, and gives the reply that the server sent."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from support.loopback.behaviours import reply
from support.loopback.server import ScriptedServer

from ragassay.models.endpoint import plain_chat_openai

OPTIONS: list[dict[str, Any]] = [
    {},
    {"logprobs": True, "top_logprobs": 20, "max_tokens": 1},
    {"seed": 3, "extra_body": {"response_format": {"type": "json_object"}}},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("model", ["gpt-4o", "o3"])
def test_the_request_is_the_one_of_langchain(model: str, options: dict[str, Any]):
    asked = [("system", "Be brief."), ("user", "Hello, Zoë."), ("assistant", "Hello."), ("user", "Again.")]
    with ScriptedServer("openai", [reply("Hello.")]) as server:
        made = {"model": model, "base_url": server.base_url, "api_key": "secret", "temperature": 0.0}
        made |= {"use_responses_api": False}
        assert ChatOpenAI(**made).bind(**options).invoke(asked).content == "Hello."
        given = plain_chat_openai()(**made).completion(asked, options)
        theirs, ours = server.requests
    assert given["choices"][0]["message"]["content"] == "Hello."
    assert ours.body == theirs.body and ours.headers["authorization"] == theirs.headers["authorization"]
    assert [message["role"] for message in ours.body["messages"]][1:] == ["user", "assistant", "user"]
