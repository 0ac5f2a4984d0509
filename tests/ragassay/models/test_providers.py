"""Providers: what prompts have in common is found, marked and priced; no call goes further than the address given."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.batch_bench import make_caller, request
from support.loopback.batch_server import BatchServer
from support.loopback.behaviours import Behaviour, reply
from support.loopback.server import ScriptedServer

from ragassay.calls.batches.apis import AnthropicBatches, OpenAIBatches
from ragassay.cli import main
from ragassay.errors import InputError, ProviderError
from ragassay.experiment.tables import ModelSettings
from ragassay.models.endpoint import Endpoint
from ragassay.models.providers import (
    SHARED_CHARACTERS,
    anthropic_content,
    cost_usd,
    explain,
    in_turn,
    of_status,
    shared_beginnings,
)
from ragassay.models.requests import Batch, Request
from ragassay.prompts import Message

GOOD = {"reason": "it says so", "label": 2}
PASSAGES = "A passage that is long enough.\n" * 200
MARK = {"type": "ephemeral"}


def marks(body: dict[str, Any]) -> list[str]:
    """The texts that end in a mark."""
    contents = [body["system"], *(message["content"] for message in body["messages"])]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return [block["text"] for block in blocks if block.get("cache_control") == MARK]


def test_a_beginning_counts_where_two_requests_share_it_by_whole_lines():
    requests = [request(PASSAGES + f"claim {n}") for n in range(3)]
    requests += [request("short\nclaim"), request("short\nother"), request("B" * 9000 + "\nalone")]
    assert shared_beginnings(requests) == [len(PASSAGES)] * 3 + [0, 0, 0]
    other_system = Request((Message("system", "Else."), Message("user", PASSAGES + "claim 9")))
    assert shared_beginnings([requests[0], other_system]) == [0, 0]
    assert shared_beginnings(requests[:1] * 2) == [len(PASSAGES)] * 2, "repeats of a request"
    assert shared_beginnings([]) == [] and shared_beginnings(requests[:1]) == [0]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3), st.text("xy\n", max_size=5)), max_size=8))
def test_every_beginning_is_one_that_another_request_is_cut_at_too(parts: list[tuple[str, int, str]]):
    requests = [request((letter * 999 + "\n") * (3 + n) + end) for letter, n, end in parts]
    shared = shared_beginnings(requests)
    texts = [one.messages[1].content for one in requests]
    for at, length in enumerate(shared):
        others = [i for i, other in enumerate(shared) if i != at and other == length]
        assert not length or (
            length >= SHARED_CHARACTERS
            and texts[at][length - 1] == "\n"
            and any(texts[i][:length] == texts[at][:length] for i in others)
        )


@given(st.text(), st.text(min_size=1), st.integers(0, 50))
def test_marks_change_no_text(system: str, user: str, shared: int):
    content = anthropic_content((Message("system", system), Message("user", user), Message("user", user)), shared)
    joined = [text if isinstance(text, str) else "".join(block["text"] for block in text) for _, text in content]
    assert joined == [system, user, user]
    assert not any(block["text"] == "" for _, text in content if isinstance(text, list) for block in text)


@pytest.mark.parametrize("mode", ["direct", "batch"])
def test_instructions_and_long_common_beginnings_are_marked_for_anthropic(
    tmp_path: Path, mode: Literal["direct", "batch"]
):
    asked = Batch("x", "anthropic:m", (*(request(PASSAGES + f"claim {n}") for n in range(3)), request("z")))
    if mode == "direct":
        with ScriptedServer("anthropic", [reply(GOOD)]) as server:
            make_caller(tmp_path, "anthropic:m", server.base_url, mode).ask([asked])
            bodies = [received.body for received in server.requests]
    else:
        with BatchServer("anthropic") as batches:
            make_caller(tmp_path, "anthropic:m", batches.base_url, mode).ask([asked])
            [batch] = batches.batches.values()
            bodies = [sent["params"] for sent in batch.requests.values()]
    assert sorted(marks(body) for body in bodies) == [["Grade."]] + [["Grade.", PASSAGES]] * 3


def test_openai_is_sent_plain_text(tmp_path: Path):
    with ScriptedServer("openai", [reply(GOOD)]) as server:
        asked = Batch("x", "openai:m", tuple(request(PASSAGES + f"claim {n}") for n in range(2)))
        make_caller(tmp_path, "openai:m", server.base_url, "direct").ask([asked])
        assert all(isinstance(m["content"], str) for r in server.requests for m in r.body["messages"])


def test_the_first_of_a_beginning_goes_before_those_that_can_read_it_from_the_cache():
    assert in_turn(["a", "a", "a", None, "b", "b"], at_once=2) == [0, 3, 4, 1, 2, 5]
    assert in_turn([f"{n // 2}" for n in range(8)], at_once=1) == [0, 2, 4, 6, 1, 3, 5, 7]
    eight_by_eight = [*range(0, 8, 2), *range(1, 8, 2), *range(8, 16, 2), *range(9, 16, 2)]
    assert in_turn([f"{n // 2}" for n in range(16)], at_once=1) == eight_by_eight


@pytest.mark.parametrize(("provider", "read"), [("openai", 0.5), ("anthropic", 0.1)])
def test_cached_tokens_are_counted_and_priced(tmp_path: Path, provider: Literal["openai", "anthropic"], read: float):
    prices = {"input": 1000.0, "output": 1000.0, "cached_input": 1000.0 * read}
    with ScriptedServer(provider, [reply(GOOD, input_tokens=100, output_tokens=20, cached_tokens=80)]) as server:
        caller = make_caller(tmp_path, f"{provider}:m", server.base_url, "direct", prices=prices)
        [[got]] = caller.ask([Batch("x", f"{provider}:m", (request("a"),))])
    assert got.usage.input_tokens == 100
    assert got.usage.cost_usd == pytest.approx((20 + 80 * read + 20) / 1000)
    [usage] = caller.usage()
    assert (usage.cached_tokens, usage.cache_write_tokens) == (80, 0)


def test_listed_prices_of_the_cache_and_of_batches():
    # https://www.anthropic.com/pricing and https://openai.com/api/pricing: Claude Sonnet 4.5 $3 in, $15 out, cache
    # writes 1.25 times and reads a tenth of the input's price; GPT-4o $2.50 in, $10 out, cached $1.25; batches half.
    none = ModelSettings()
    claude, gpt = "anthropic:claude-sonnet-4-5", "openai:gpt-4o"
    assert cost_usd(claude, none, 10_000, 1000, 8000, 1000) == pytest.approx((3 + 8 * 0.3 + 3.75 + 15) / 1000)
    assert cost_usd(gpt, none, 10_000, 1000, 8000) == pytest.approx((2 * 2.5 + 8 * 1.25 + 10) / 1000)
    for model in (claude, gpt):
        whole = cost_usd(model, none, 10_000, 1000)
        assert whole is not None and cost_usd(model, none, 10_000, 1000, batch=True) == pytest.approx(whole / 2)
    own = ModelSettings(prices_usd_per_million={"input": 2.0, "output": 4.0})
    assert cost_usd("openai:mine", own, 10, 10, 5) == pytest.approx(60e-6), "cached as the input where nothing is said"


PATHS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}
REQUEST = Request((Message("user", "a secret of the house"),))


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "key-of-the-house")


def sent_on(status: int, to: str) -> Behaviour:
    return Behaviour(status=status, headers=(("Location", to),))


@pytest.mark.parametrize(
    ("status", "host"), [(301, "localhost"), (302, "127.0.0.1"), (307, "localhost"), (308, "127.0.0.1")]
)
@pytest.mark.parametrize("provider", list(PATHS))
def test_a_redirect_to_another_host_is_not_followed(provider: str, status: int, host: str):
    path = PATHS[provider]
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


@pytest.mark.parametrize("provider", list(PATHS))
def test_a_redirect_on_the_same_host_is_followed(provider: str):
    moved = PATHS[provider] + "?moved=1"
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


@pytest.mark.parametrize(
    ("status", "said", "kind", "retryable"),
    [
        (401, "x", InputError, None),
        (403, "x", InputError, None),
        (404, "x", InputError, None),
        (402, "x", InputError, None),
        (429, "Error code: 429 - {'error': {'code': 'insufficient_quota'}}", InputError, None),
        (429, "Error code: 429 - {'error': {'code': 'rate_limit_exceeded'}}", ProviderError, True),
        (408, "x", ProviderError, True),
        (529, "overloaded_error", ProviderError, True),
        (400, "x", ProviderError, False),
        (422, "x", ProviderError, False),
    ],
)
def test_a_status_ends_the_run_is_tried_again_or_is_a_record(status: int, said: str, kind: type, retryable: bool):
    """As OpenAI's and Anthropic's pages on error codes name them."""
    error = of_status(status, said, "openai:m")
    assert type(error) is kind and getattr(error, "retryable", None) is retryable
