"""A server that sends calls on to another: nothing of them goes there, and the user is told where it was to go."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from support.loopback.behaviours import Behaviour, reply
from support.loopback.server import ScriptedServer

from ragassay.calls.batches.apis import AnthropicBatches, OpenAIBatches
from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.experiment.tables import ModelSettings
from ragassay.models.endpoint import Endpoint
from ragassay.models.providers import explain
from ragassay.models.requests import Request
from ragassay.prompts import Message

PROVIDERS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}
REQUEST = Request((Message("user", "a secret of the house"),))


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "key-of-the-house")


def sent_on(status: int, to: str) -> Behaviour:
    return Behaviour(status=status, headers=(("Location", to),))


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("provider", list(PROVIDERS))
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_redirect_to_another_host_is_not_followed(provider: str, status: int, host: str):
    path = PROVIDERS[provider]
    with ScriptedServer(provider, [reply("yes")]) as other:
        there = f"http://{host}:{other.port}"
        with ScriptedServer(provider, [sent_on(status, there + path + "?key=abcdefgh")]) as server:
            endpoint = Endpoint(f"{provider}:m", ModelSettings(base_url=server.base_url))
            with pytest.raises(Exception) as caught:
                endpoint.call(REQUEST)
            assert len(server.requests) == 1
    error = explain(caught.value, "a:m")
    assert isinstance(error, InputError)
    said = f"a:m: the server at http://127.0.0.1:{server.port} sends calls on to {there}, and nothing was sent there; "
    assert str(error) == said + "write that address as base_url if it is the right one"
    assert not other.requests


@pytest.mark.parametrize("provider", list(PROVIDERS))
def test_a_redirect_on_the_same_host_is_followed(provider: str):
    moved = PROVIDERS[provider] + "?moved=1"
    with ScriptedServer(provider, [sent_on(307, moved), reply("yes")]) as server:
        body = Endpoint(f"{provider}:m", ModelSettings(base_url=server.base_url)).call(REQUEST)
        assert body["choices"][0]["message"]["content"] == "yes"
        assert [request.path for request in server.requests][1] == moved


class _SendsOn(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(307)
        self.send_header("Location", "http://elsewhere.example/v1")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        pass


def test_batches_do_not_follow_either(tmp_path: Path):
    file = tmp_path / "requests.jsonl"
    file.write_text("{}\n")
    with HTTPServer(("127.0.0.1", 0), _SendsOn) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        anthropic = AnthropicBatches("anthropic:m", ModelSettings(), address)
        openai = OpenAIBatches("openai:m", ModelSettings(), f"{address}/v1")
        for create in (lambda: anthropic.create(file, None), lambda: openai.prepare(file)):  # type: ignore[arg-type]
            with pytest.raises(Exception) as caught:
                create()
            assert "sends calls on to http://elsewhere.example, and" in str(explain(caught.value, "a:m"))
        server.shutdown()


def test_a_run_ends_with_that_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    from support.small_corpus import make_corpus

    monkeypatch.chdir(tmp_path)
    with ScriptedServer("openai", [sent_on(308, "https://elsewhere.example/v1/chat/completions")]) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url, retries=0)
        assert main(["run", str(corpus)]) == 2
    assert "openai:m: the server at http://127.0.0.1" in (err := capsys.readouterr().err)
    assert "sends calls on to https://elsewhere.example, and nothing was sent there; write" in err
