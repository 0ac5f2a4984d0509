"""What each provider is sent, what is refused where it has no such parameter, and what is returned."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from pydantic import BaseModel
from support.loopback.behaviours import reply, truncated
from support.loopback.server import ScriptedServer
from support.plugin import Installed
from support.plugin import plugin as plugin

from ragassay.calls.register import input_line
from ragassay.errors import InputError
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.tables import ModelSettings
from ragassay.models.endpoint import Endpoint, check_model, plain_chat_openai, provider_of
from ragassay.models.requests import Request, read_reply, request_key
from ragassay.prompts import Message

GIVEN = {"temperature": 0.0, "top_p": 0.5, "seed": 42, "presence_penalty": 0.5}
ASKED = Request((Message("user", "hällo"),), sample=3)


def sent_by(model: str, settings: ModelSettings, base_url: str) -> None:
    endpoint = Endpoint(model, settings.model_copy(update={"base_url": base_url}))
    endpoint.call(ASKED)


@pytest.mark.parametrize("model", ["openai:m", "local:m"])
def test_all_are_sent_and_a_repeat_has_a_seed_of_its_own(monkeypatch, model: str):
    with ScriptedServer("openai", [reply("Yes.")]) as server:
        started = SimpleNamespace(base_url=server.base_url, stop=lambda: None)
        monkeypatch.setattr("ragassay.models.local.model.start", lambda name, settings: started)
        sent_by(model, ModelSettings.model_validate(GIVEN), server.base_url)
        body = server.requests[0].body
    assert {name: body[name] for name in GIVEN} == {**GIVEN, "seed": 45}


def test_without_a_seed_only_local_models_get_one(monkeypatch):
    with ScriptedServer("openai", [reply("Yes."), reply("Yes.")]) as server:
        started = SimpleNamespace(base_url=server.base_url, stop=lambda: None)
        monkeypatch.setattr("ragassay.models.local.model.start", lambda name, settings: started)
        for model in ("openai:m", "local:m"):
            sent_by(model, ModelSettings(), server.base_url)
        hosted, local = (request.body for request in server.requests)
    assert not GIVEN.keys() & hosted.keys()
    assert GIVEN.keys() & local.keys() == {"seed"} and local["seed"] == 3


def test_request_files_hold_them():
    body = input_line("key", "file:m", ModelSettings.model_validate(GIVEN), ASKED)["body"]
    assert {name: body[name] for name in GIVEN} == {**GIVEN, "seed": 45}
    assert not GIVEN.keys() & input_line("key", "file:m", ModelSettings(), ASKED)["body"].keys()


@pytest.mark.parametrize("line", ["seed = 7", "presence_penalty = 0.5"])
def test_anthropic_has_no_such_parameter(tmp_path: Path, line: str):
    name = line.split()[0]
    path = tmp_path / "experiment.toml"
    model = json.dumps("anthropic:m")
    tables = f'[questions]\nsource = "own"\n[answer]\nmodel = {model}\n[judge]\nmodel = {model}\n'
    path.write_text(f"{tables}[models.{model}]\ntop_p = 0.5\n{line}\n")
    with pytest.raises(InputError) as raised:
        load_experiment(path)
    said = str(raised.value)
    assert f'[models."anthropic:m"] models of anthropic: take no {name}; leave it out' in said
    assert "\n" not in said
    path.write_text(f"{tables}[models.{model}]\ntop_p = 0.5\n")
    assert load_experiment(path).settings_of("anthropic:m").top_p == 0.5


@pytest.mark.parametrize("model", ["openai:m", "anthropic:m", "file:m"])
def test_a_requests_own_temperature_goes_before_the_models_and_is_in_the_key(monkeypatch, model: str):
    warm, settings = replace(ASKED, temperature=0.7), ModelSettings(temperature=0.0)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-not-a-key")
    if model == "file:m":
        assert input_line("key", model, settings, warm)["body"]["temperature"] == 0.7
    else:
        with ScriptedServer("anthropic" if "anthropic" in model else "openai", [reply("Yes.")]) as server:
            Endpoint(model, settings.model_copy(update={"base_url": server.base_url})).call(warm)
            assert server.requests[0].body["temperature"] == 0.7
    keys = [request_key(model, None, ModelSettings(temperature=0.7), ASKED), request_key(model, None, settings, warm)]
    assert keys[0] == keys[1] != request_key(model, None, settings, ASKED)


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


BROUGHT = """
import os
from ragassay.models.endpoint import Provider

class Ours(Provider):
    key = "OURS_API_KEY"

    def chat(self, name, settings):
        from langchain_openai import ChatOpenAI
        return ChatOpenAI(model=name, base_url=settings.base_url, api_key="none", max_retries=0)
"""


class Yes(BaseModel):
    yes: bool


def test_a_package_brings_a_provider(plugin: Installed, monkeypatch: pytest.MonkeyPatch):
    (plugin.folder / "ours_of_a_package.py").write_text(BROUGHT)
    plugin.install(providers={"ours": "ours_of_a_package:Ours"})
    monkeypatch.delenv("OURS_API_KEY", raising=False)
    with pytest.raises(InputError, match="ours:m needs a key and OURS_API_KEY is not set"):
        check_model("ours:m", ModelSettings())
    with ScriptedServer("openai", [reply("Yes."), reply({"yes": True}), truncated()]) as server:
        endpoint = Endpoint("ours:m", ModelSettings(base_url=server.base_url))
        check_model("ours:m", endpoint.settings)
        assert read_reply(ASKED, endpoint.call(ASKED)).text == "Yes."
        fitted = replace(ASKED, schema=Yes)
        assert read_reply(fitted, endpoint.call(fitted)).value == Yes(yes=True)
        assert "cut off" in str(read_reply(fitted, endpoint.call(fitted)).error)
        assert [message["content"] for message in server.requests[0].body["messages"]] == ["hällo"]
    with pytest.raises(InputError, match="named openai:…, anthropic:…, local:…, file:…, ours:…"):
        provider_of("other:m")
    with pytest.raises(InputError, match="'ours: ' has no name behind its provider"):
        provider_of("ours: ")
