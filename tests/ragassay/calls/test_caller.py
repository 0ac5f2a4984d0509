"""Asking models over real HTTP, with the real SDKs, against scripted servers on loopback."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict
from support.loopback.behaviours import (
    cut,
    half_body,
    hang,
    not_json,
    prose,
    refusal,
    reply,
    status,
    token_probabilities,
    truncated,
)
from support.loopback.server import ScriptedServer
from support.results_folder import experiment, results_folder

from ragassay.calls.caller import Caller
from ragassay.calls.register import write_requests
from ragassay.calls.reply_cache import ReplyCache, output_line
from ragassay.errors import BudgetSpent, InputError, RepliesMissing
from ragassay.experiment.tables import ModelSettings
from ragassay.models.endpoint import Endpoint
from ragassay.models.requests import Batch, Request
from ragassay.progress import NoProgress, Outcome
from ragassay.prompts import Message


class Grade(BaseModel):
    model_config = ConfigDict(extra="forbid")
    reason: str
    label: Literal[0, 1, 2]


GOOD = {"reason": "it says so", "label": 2}


def request(text: str, **fields: object) -> Request:
    return Request((Message("system", "Grade."), Message("user", text)), **{"schema": Grade, **fields})  # type: ignore[arg-type]


def make_caller(
    folder: Path, model: str, base_url: str | None = None, timeout_s: float = 20.0, **run: object
) -> Caller:
    settings = {
        "base_url": base_url,
        "timeout_s": timeout_s,
        "prices_usd_per_million": {"input": 1000.0, "output": 1000.0},
    }
    run = {"retries": 3, "max_concurrency": 4, **run}
    workspace = results_folder(folder, experiment(model, run=run, models={model: settings}))
    return Caller(workspace, "judge", ReplyCache(workspace.replies), retry_after_cap_s=0.2)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_structured_reply_comes_back_checked_and_measured(tmp_path: Path, provider: Literal["openai", "anthropic"]):
    with ScriptedServer(provider, [reply(GOOD, input_tokens=100, output_tokens=20)]) as server:
        caller = make_caller(tmp_path, f"{provider}:m", server.base_url)
        [[got]] = caller.ask([Batch("x", f"{provider}:m", (request("a"),))])
    assert got.value == Grade(reason="it says so", label=2) and got.error is None
    assert (got.usage.input_tokens, got.usage.output_tokens) == (100, 20)
    assert got.usage.cost_usd == pytest.approx(0.12)
    assert got.latency_s is not None
    assert caller.usage()[0].calls == 1


def test_a_replys_seconds_are_without_what_making_the_client_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def slow(self: Endpoint) -> object:
        time.sleep(1.5)
        return build(self)

    build = Endpoint._build
    monkeypatch.setattr(Endpoint, "_build", slow)
    with ScriptedServer("openai", [reply(GOOD)] * 3) as server:
        caller = make_caller(tmp_path, "openai:m", server.base_url)
        [got] = caller.ask([Batch("relevance", "openai:m", tuple(map(request, "abc")))])
    assert [one.error for one in got] == [None] * 3 and max(one.latency_s or 0.0 for one in got) < 1.5


def test_progress_is_told_what_failed_when_it_is_asked_and_when_it_is_at_hand(tmp_path: Path):
    class Told(NoProgress):
        def advance(self, outcome: Outcome, spent_usd: float | None, error: str | None = None) -> None:
            said.append((outcome, error))

    said: list[tuple[str, str | None]] = []
    with ScriptedServer("openai", [prose()]) as server:
        models = {"openai:m": {"base_url": server.base_url}}
        workspace = results_folder(tmp_path, experiment("openai:m", models=models))
        for _ in range(2):
            caller = Caller(workspace, "judge", ReplyCache(workspace.replies), Told())
            [[got]] = caller.ask([Batch("x", "openai:m", (request("a"),))])
    assert got.error
    assert said == [("failed", got.error)] * 2


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize(
    "failure",
    [
        status(429, retry_after_s=0.05),
        status(500),
        status(503),
        cut("before"),
        cut("headers"),
        cut("body"),
        half_body(),
        not_json(),
        hang(),
    ],
    ids=lambda behaviour: behaviour.failure or str(behaviour.status),
)
def test_what_may_pass_is_tried_again(tmp_path: Path, provider: Literal["openai", "anthropic"], failure):
    with ScriptedServer(provider, [failure, reply(GOOD)]) as server:
        timeout_s = 0.6 if failure.failure == "hang" else 20.0
        [[got]] = make_caller(tmp_path, f"{provider}:m", server.base_url, timeout_s).ask(
            [Batch("x", f"{provider}:m", (request("a"),))]
        )
        assert len(server.requests) == 2
    assert got.error is None and got.value == Grade(**GOOD)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("code", [400, 413, 422])
def test_what_cannot_succeed_is_not_tried_again(tmp_path: Path, provider: Literal["openai", "anthropic"], code: int):
    with ScriptedServer(provider, [status(code), reply(GOOD)]) as server:
        asked = Batch("x", f"{provider}:m", (request("a"),))
        [[got]] = make_caller(tmp_path, f"{provider}:m", server.base_url).ask([asked])
        assert len(server.requests) == 1
    assert got.value is None and str(code) in str(got.error)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("bad", [prose(), refusal(), truncated(), reply({"label": 7, "reason": "x"}), reply("")])
def test_what_does_not_fit_is_asked_again_once_and_then_an_error(
    tmp_path: Path, provider: Literal["openai", "anthropic"], bad
):
    with ScriptedServer(provider, [bad]) as server:
        caller = make_caller(tmp_path, f"{provider}:m", server.base_url)
        [[got]] = caller.ask([Batch("x", f"{provider}:m", (request("a"),))])
        assert len(server.requests) == 2
        [[again]] = make_caller(tmp_path, f"{provider}:m", server.base_url).ask(
            [Batch("x", f"{provider}:m", (request("a"),))]
        )
        assert len(server.requests) == 2, "a reply already received was asked for again"
    assert got.value is None and got.error
    assert again.error == got.error
    [usage] = caller.usage()
    assert (usage.n_failed, usage.n_refused) == (1, int(bad.ending == "refusal"))


def test_the_second_try_says_what_was_wrong(tmp_path: Path):
    with ScriptedServer("openai", [prose(), reply(GOOD)]) as server:
        [[got]] = make_caller(tmp_path, "openai:m", server.base_url).ask([Batch("x", "openai:m", (request("a"),))])
        second = server.requests[1].body["messages"]
    assert got.error is None
    assert [m["role"] for m in second] == ["system", "user", "assistant", "user"]
    assert got.usage.input_tokens == 22, "both tries were paid for"


def test_a_provider_that_keeps_failing_is_an_error_record_and_is_asked_again_by_the_next_run(tmp_path: Path):
    with ScriptedServer("openai", [*[status(500)] * 4, reply(GOOD)]) as server:
        batch = Batch("x", "openai:m", (request("a"),))
        [[got]] = make_caller(tmp_path, "openai:m", server.base_url).ask([batch])
        [[later]] = make_caller(tmp_path, "openai:m", server.base_url).ask([batch])
    assert "status 500" in str(got.error)
    assert later.error is None


def test_equal_requests_are_asked_once_and_repeats_apart(tmp_path: Path):
    with ScriptedServer("openai", [reply(GOOD)]) as server:
        asked = (request("a"), request("a"), request("a", sample=1), request("b"))
        [replies] = make_caller(tmp_path, "openai:m", server.base_url).ask([Batch("x", "openai:m", asked)])
        assert len(server.requests) == 3
    assert len(replies) == 4


@pytest.mark.parametrize(("code", "phrase"), [(401, "key"), (403, "key"), (404, "does not know")])
def test_what_the_user_must_mend_stops_the_run_in_one_sentence(tmp_path: Path, code: int, phrase: str):
    with ScriptedServer("openai", [status(code)]) as server, pytest.raises(InputError, match=phrase):
        make_caller(tmp_path, "openai:m", server.base_url).ask([Batch("x", "openai:m", (request("a"),))])


def test_a_missing_key_is_said_before_anything_is_sent(tmp_path: Path):
    experiment_caller = make_caller(tmp_path, "anthropic:m")
    with pytest.raises(InputError, match="ANTHROPIC_API_KEY"):
        experiment_caller.ask([Batch("x", "anthropic:m", (request("a"),))])


def test_the_cost_limit_stops_before_it_is_passed_and_a_higher_one_goes_on(tmp_path: Path):
    batch = Batch("x", "openai:m", tuple(request(str(n)) for n in range(20)))
    with ScriptedServer("openai", [reply(GOOD, input_tokens=900, output_tokens=100)]) as server:  # 1 dollar a call
        with pytest.raises(BudgetSpent):
            make_caller(tmp_path, "openai:m", server.base_url, max_cost_usd=5.0, max_concurrency=1).ask([batch])
        assert len(server.requests) == 5
        caller = make_caller(tmp_path, "openai:m", server.base_url, max_cost_usd=100.0)
        [replies] = caller.ask([batch])
        assert len(server.requests) == 20
    assert all(got.error is None for got in replies)


def test_token_probabilities_are_read_and_sum_to_one(tmp_path: Path):
    with ScriptedServer("openai", [token_probabilities({"Yes": 0.6, " yes": 0.2, "No": 0.1, "maybe": 0.1})]) as server:
        [[got]] = make_caller(tmp_path, "openai:m", server.base_url).ask(
            [Batch("x", "openai:m", (request("a", schema=None, tokens=("yes", "no")),))]
        )
        assert server.requests[0].body["logprobs"] is True
    assert got.probabilities == pytest.approx({"yes": 0.8 / 0.9, "no": 0.1 / 0.9}, abs=1e-6)


def test_no_more_calls_at_once_than_allowed(tmp_path: Path):
    with ScriptedServer("openai", [reply(GOOD, delay_s=0.02)]) as server:
        batch = Batch("x", "openai:m", tuple(request(str(n)) for n in range(24)))
        make_caller(tmp_path, "openai:m", server.base_url, max_concurrency=3).ask([batch])
        assert server.most_at_once == 3


def test_a_file_model_writes_its_requests_by_label_and_takes_the_replies(tmp_path: Path):
    batches = [Batch("first", "file:m", (request("a"), request("b"))), Batch("second", "file:m", (request("c"),))]
    caller = make_caller(tmp_path, "file:m")
    with pytest.raises(RepliesMissing, match="3 requests"):
        caller.ask(batches)
    files = sorted((tmp_path / "results/requests").glob("*.jsonl"))
    assert [path.name for path in files] == ["first-0001.jsonl", "second-0001.jsonl"]
    lines = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    assert lines[0]["body"]["response_format"]["json_schema"]["schema"]["additionalProperties"] is False
    replies = tmp_path / "results/replies"
    replies.mkdir()
    bodies = [{"choices": [{"message": {"content": json.dumps(GOOD)}}]}] * 3
    text = "".join(
        json.dumps(output_line(line["custom_id"], body)) + "\n" for line, body in zip(lines, bodies, strict=True)
    )
    (replies / "mine.jsonl").write_text(text)
    got = make_caller(tmp_path, "file:m").ask(batches)
    assert [[r.error for r in row] for row in got] == [[None, None], [None]]
    assert got[0][0].usage.cost_usd is None, "what was not measured is not zero"


def test_requests_of_a_label_stand_in_the_order_of_their_keys_in_files_of_their_size(tmp_path: Path):
    rows = [(key, "file:m", request(f"asked by {key}")) for key in ("c", "a", "e", "b", "d")]
    settings = {"file:m": ModelSettings(requests_per_file=2)}
    files = write_requests(tmp_path, {"judge": rows}, settings)
    keys = [[json.loads(line)["custom_id"] for line in path.read_text("utf-8").splitlines()] for path in files]
    assert keys == [["a", "b"], ["c", "d"], ["e"]]
