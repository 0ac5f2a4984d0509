"""The real SDKs against the scripted servers: what each failure becomes, and where each fact of a reply is found."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from support.loopback import behaviours as do
from support.loopback.behaviours import Behaviour
from support.loopback.server import ScriptedServer

PROVIDERS = ["openai", "anthropic"]


def chat_with(server: ScriptedServer, timeout_s: float = 10.0) -> BaseChatModel:
    if server.base_url.endswith("/v1"):
        return ChatOpenAI(model="gpt-4o", base_url=server.base_url, api_key="none", max_retries=0, timeout=timeout_s)
    return ChatAnthropic(
        model="claude", base_url=server.base_url, api_key="none", max_retries=0, timeout=timeout_s, max_tokens=99
    )


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_reply_its_usage_and_what_was_asked(provider: Any) -> None:
    with ScriptedServer(provider, [do.reply("hello", input_tokens=40, output_tokens=3, cached_tokens=25)]) as server:
        reply = chat_with(server).invoke("good day")
    assert reply.content == "hello"
    assert reply.usage_metadata is not None
    assert (reply.usage_metadata["input_tokens"], reply.usage_metadata["output_tokens"]) == (40, 3)
    assert reply.usage_metadata["input_token_details"]["cache_read"] == 25
    assert server.requests[0].body["messages"] == [{"role": "user", "content": "good day"}]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("behaviour", "name"),
    [
        (do.status(429, retry_after_s=2), "RateLimitError"),
        (do.status(400), "BadRequestError"),
        (do.status(401), "AuthenticationError"),
        (do.status(500), "InternalServerError"),
        (do.status(503), "InternalServerError"),
        (do.cut("before"), "APIConnectionError"),
        (do.cut("headers"), "APIConnectionError"),
        (do.cut("body"), "APIConnectionError"),
        (do.hang(), "APITimeoutError"),
    ],
)
def test_failures_are_the_sdks_own_errors(provider: Any, behaviour: Behaviour, name: str) -> None:
    kind = getattr(openai if provider == "openai" else anthropic, name)
    with ScriptedServer(provider, [behaviour]) as server, pytest.raises(kind) as caught:
        chat_with(server, timeout_s=0.3 if behaviour.failure == "hang" else 10.0).invoke("x")
    assert len(server.requests) == 1
    if behaviour.status == 429:
        assert caught.value.response.headers["retry-after"] == "2"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_half_body_is_an_error_of_json_and_no_sdk_error(provider: Any) -> None:
    with ScriptedServer(provider, [do.half_body()]) as server, pytest.raises(json.JSONDecodeError):
        chat_with(server).invoke("x")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_refusals_and_truncated_replies_say_so(provider: Any) -> None:
    with ScriptedServer(provider, [do.refusal(), do.truncated()]) as server:
        refused, truncated = chat_with(server).invoke("x"), chat_with(server).invoke("x")
    if provider == "openai":
        assert refused.additional_kwargs["refusal"]
        assert truncated.response_metadata["finish_reason"] == "length"
    else:
        assert refused.response_metadata["stop_reason"] == "refusal"
        assert truncated.response_metadata["stop_reason"] == "max_tokens"


def test_an_object_goes_out_as_a_tool_call_where_there_are_tools_and_as_text_elsewhere() -> None:
    tool = {"name": "Label", "description": "The label.", "input_schema": {"type": "object", "properties": {}}}
    for provider in PROVIDERS:
        with ScriptedServer(provider, [do.reply({"label": 2})]) as server:  # type: ignore[arg-type]
            chat = chat_with(server)
            assert chat.bind_tools([tool], tool_choice="Label").invoke("x").tool_calls[0]["args"] == {"label": 2}
            assert json.loads(str(chat.invoke("x").content)) == {"label": 2}


def test_token_probabilities_come_back_as_they_were_scripted() -> None:
    with ScriptedServer("openai", [do.token_probabilities({"yes": 0.7, "no": 0.2, "Yes": 0.1})]) as server:
        reply = chat_with(server).bind(logprobs=True, top_logprobs=20, max_tokens=1).invoke("x")
    top = reply.response_metadata["logprobs"]["content"][0]["top_logprobs"]
    assert {entry["token"]: round(math.exp(entry["logprob"]), 9) for entry in top} == {
        "yes": 0.7,
        "no": 0.2,
        "Yes": 0.1,
    }


@pytest.mark.parametrize("provider", PROVIDERS)
def test_requests_are_served_at_the_same_time(provider: Any) -> None:
    script: Callable[[int, dict[str, Any]], Behaviour] = lambda number, body: do.reply(str(number), delay_s=0.3)  # noqa: E731
    with ScriptedServer(provider, script) as server:
        replies = chat_with(server).batch(["x"] * 8, config={"max_concurrency": 8})
    assert sorted(int(str(reply.content)) for reply in replies) == list(range(8))
    assert server.most_at_once > 1


def test_a_script_that_raises_is_heard_when_the_block_ends() -> None:
    def script(number: int, body: dict[str, Any]) -> Behaviour:
        raise ZeroDivisionError

    server = ScriptedServer("openai", script)
    with pytest.raises(ZeroDivisionError), server, pytest.raises(openai.APIConnectionError):
        chat_with(server).invoke("x")
