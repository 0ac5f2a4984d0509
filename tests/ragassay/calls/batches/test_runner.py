"""Batch mode over real HTTP, with the real SDKs, against batch APIs on loopback that do as their documentation says."""

from __future__ import annotations

import json
import re
import signal
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Literal

import pytest
from support.batch_bench import Grade, ask, make_caller, request
from support.loopback.batch_server import BatchServer, Outcome
from support.loopback.behaviours import Behaviour, prose, refusal, reply, status, token_probabilities
from support.loopback.server import ScriptedServer
from support.results_folder import experiment, results_folder
from support.schema_replies import reply_to
from support.small_corpus import make_corpus

from ragassay.calls.batches.apis import AnthropicBatches, BatchLine, BatchLog, Limits, OpenAIBatches
from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.cli import main
from ragassay.errors import BudgetSpent, InputError
from ragassay.models.requests import Batch
from ragassay.progress import StderrProgress

Provider = Literal["openai", "anthropic"]
both = pytest.mark.parametrize("provider", ["openai", "anthropic"])
APIS = {"openai": OpenAIBatches, "anthropic": AnthropicBatches}
GOOD = {"reason": "it says so", "label": 2}


def text_of(body: dict[str, Any]) -> str:
    content = next(message["content"] for message in body["messages"] if message["role"] == "user")
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def only(text: str, outcome: Outcome, times: int = 1) -> Any:
    """An answer that gives `outcome` to one text so many times, and a grade to everything else."""
    return lambda asked, body: outcome if text_of(body) == text and asked <= times else reply(GOOD)


def log(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results/batches.jsonl").read_text().splitlines()]


@both
def test_replies_come_back_checked_priced_at_half_and_into_the_cache_of_direct_calls(
    tmp_path: Path, provider: Provider
):
    model = f"{provider}:m"
    answer = lambda times, body: reply({"reason": text_of(body), "label": 2}, input_tokens=100, output_tokens=20)  # noqa: E731
    with BatchServer(provider, answer) as server:
        caller = make_caller(tmp_path, model, server.base_url)
        replies = ask(caller, model, 9)
        assert [got.value for got in replies] == [Grade(reason=f"text {n}", label=2) for n in range(9)], "shuffled"
        assert len(server.batches) == 1
        states = [line["state"] for line in log(tmp_path)]
        assert states[:3] == ["planned", "ready", "submitted"] and states[-1] == "collected"
        direct = ask(make_caller(tmp_path, model, server.base_url, mode="direct"), model, 9)
        assert [got.value for got in direct] == [got.value for got in replies], "batch and direct share the cache"
    assert replies[0].usage.cost_usd == pytest.approx(0.06), "120 tokens at 1,000 dollars a million, halved"
    assert replies[0].latency_s is None
    [usage] = caller.usage()
    assert (usage.calls, usage.n_failed, usage.input_tokens) == (9, 0, 900)
    assert usage.cost_usd == pytest.approx(0.54) and caller.budget.spent_usd == pytest.approx(0.54)
    assert not list((tmp_path / "results/batches").glob("*")), "request files of collected batches go"


@pytest.mark.parametrize(
    ("provider", "kind"),
    [("openai", "schema"), ("openai", "text"), ("openai", "tokens"), ("anthropic", "schema"), ("anthropic", "text")],
)
def test_a_batch_asks_what_a_direct_call_asks(tmp_path: Path, provider: Provider, kind: str):
    model, fields = (
        f"{provider}:m",
        {"schema": {}, "text": {"schema": None}, "tokens": {"schema": None, "tokens": ("a",)}},
    )
    asked = Batch("x", model, (request("hällo", **fields[kind]),))  # type: ignore[arg-type]
    answer = token_probabilities({"a": 0.9, "b": 0.1}) if kind == "tokens" else reply(GOOD)
    with ScriptedServer(provider, [answer]) as direct:
        [[expected]] = make_caller(tmp_path / "d", model, direct.base_url, mode="direct").ask([asked])
        body = dict(direct.requests[0].body)
    body.pop("stream", None)
    with BatchServer(provider, lambda times, body: answer) as server:
        [[got]] = make_caller(tmp_path / "b", model, server.base_url).ask([asked])
        [batch] = server.batches.values()
    [sent] = batch.requests.values()
    assert (sent.get("body") or sent["params"]) == body
    assert not {"temperature", "top_p", "seed", "presence_penalty"} & body.keys(), "what is not set is not sent"
    assert (got.value, got.text, got.probabilities) == (expected.value, expected.text, expected.probabilities)


SAMPLING = {
    "openai": {"temperature": 0.0, "top_p": 0.9, "seed": 40, "presence_penalty": 0.5},
    "anthropic": {"temperature": 0.0, "top_p": 0.9},
}


@both
@pytest.mark.parametrize("sample", [0, 2])
def test_how_tokens_are_drawn_is_sent_alike_and_each_repeat_has_its_seed(tmp_path: Path, provider: Provider, sample):
    model, more = f"{provider}:m", SAMPLING[provider]
    asked = Batch("x", model, (request("hällo", sample=sample),))
    with ScriptedServer(provider, [reply(GOOD)]) as direct:
        make_caller(tmp_path / "d", model, direct.base_url, mode="direct", more=more).ask([asked])
        body = dict(direct.requests[0].body)
    expected = {**more, **({"seed": 40 + sample} if "seed" in more else {})}
    assert {name: body[name] for name in expected} == expected
    body.pop("stream", None)
    with BatchServer(provider, lambda times, body: reply(GOOD)) as server:
        make_caller(tmp_path / "b", model, server.base_url, more=more).ask([asked])
        [batch] = server.batches.values()
    [sent] = batch.requests.values()
    assert (sent.get("body") or sent["params"]) == body


@both
@pytest.mark.parametrize("bad", [prose(), refusal(), reply({"label": 7, "reason": "x"})])
def test_what_does_not_fit_is_asked_again_once_in_a_second_batch(tmp_path: Path, provider: Provider, bad: Behaviour):
    model = f"{provider}:m"
    answer = lambda times, body: bad if text_of(body) == "text 1" else reply(GOOD)  # noqa: E731
    with BatchServer(provider, answer) as server:
        replies = ask(make_caller(tmp_path, model, server.base_url), model, 4)
        assert [len(batch.requests) for batch in server.batches.values()] == [4, 1]
        again = next(iter(list(server.batches.values())[1].requests.values()))
        roles = [message["role"] for message in (again.get("body") or again["params"])["messages"]]
        assert roles[-3:] == ["user", "assistant", "user"]
        ask(make_caller(tmp_path, model, server.base_url), model, 4)
        assert len(server.batches) == 2, "a reply already received was asked for again"
    assert [got.error is None for got in replies] == [True, False, True, True]


@both
def test_expired_requests_go_into_a_next_batch_and_the_others_are_kept(tmp_path: Path, provider: Provider):
    model = f"{provider}:m"
    with BatchServer(provider) as server:
        server.fates = ["expired"]
        replies = ask(make_caller(tmp_path, model, server.base_url), model, 7)
        assert [len(batch.requests) for batch in server.batches.values()] == [7, 4]
    assert all(got.error is None for got in replies)


@both
def test_what_keeps_expiring_is_an_error_record_after_the_retries(tmp_path: Path, provider: Provider):
    model = f"{provider}:m"
    with BatchServer(provider) as server:
        server.fates = ["expired"] * 9
        [got] = ask(make_caller(tmp_path, model, server.base_url), model, 1)
        assert len(server.batches) == 3, "retries = 2"
        assert got.error is not None and "expired" in got.error
        server.fates = []
        [later] = ask(make_caller(tmp_path, model, server.base_url), model, 1)
    assert later.error is None


@both
@pytest.mark.parametrize(
    ("outcome", "n_batches"), [(status(400), 1), (status(500), 3), (status(429), 3), ("missing", 3)]
)
def test_an_item_fails_alone_and_is_tried_again_where_that_may_help(
    tmp_path: Path, provider: Provider, outcome: Outcome, n_batches: int
):
    model = f"{provider}:m"
    with BatchServer(provider, only("text 2", outcome, times=9)) as server:
        replies = ask(make_caller(tmp_path, model, server.base_url), model, 5)
        assert len(server.batches) == n_batches
    assert [got.error is None for got in replies] == [True, True, False, True, True]
    assert ("without a reply" if outcome == "missing" else f"status {outcome.status}") in str(replies[2].error)


@both
def test_an_item_that_fails_once_is_answered_by_the_next_batch(tmp_path: Path, provider: Provider):
    model = f"{provider}:m"
    with BatchServer(provider, only("text 2", status(500))) as server:
        replies = ask(make_caller(tmp_path, model, server.base_url), model, 5)
    assert all(got.error is None for got in replies)


@both
def test_a_batch_that_a_person_cancels_keeps_what_was_done_and_the_rest_is_not_asked_again(
    tmp_path: Path, provider: Provider
):
    model = f"{provider}:m"
    with BatchServer(provider, looks=50) as server:

        def cancel(what: str) -> None:
            if what == "GET batches/ID":
                server.cancel(server.batches[next(iter(server.batches))])

        server.before_answering = cancel
        replies = ask(make_caller(tmp_path, model, server.base_url), model, 6)
        assert len(server.batches) == 1
        assert sum(got.error is None for got in replies) == 3
        assert all("cancel" in str(got.error) for got in replies if got.error)
        server.before_answering, server.looks = lambda what: None, 1
        replies = ask(make_caller(tmp_path, model, server.base_url), model, 6)
        assert [len(batch.requests) for batch in server.batches.values()] == [6, 3]
    assert all(got.error is None for got in replies)


@both
@pytest.mark.parametrize("fault", ["503", "cut-after"])
@pytest.mark.parametrize("at", ["POST files", "POST batches", "GET batches/ID", "results"])
def test_a_passing_fault_of_http_is_tried_again_and_nothing_is_handed_in_twice(
    tmp_path: Path, provider: Provider, at: str, fault: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("ragassay.calls.direct._backoff", lambda state: 0.01)
    model, word = f"{provider}:m", {"openai": "GET content", "anthropic": "GET results"}[provider]
    with BatchServer(provider) as server:
        server.faults = {word if at == "results" else at: [fault, fault]}
        replies = ask(make_caller(tmp_path, model, server.base_url), model, 5)
        assert Counter(server.handed_in) == Counter(set(server.handed_in)), "handed in twice"
    assert all(got.error is None for got in replies)


@pytest.mark.parametrize(
    ("provider", "at"),
    [
        ("openai", "POST files"),
        ("openai", "POST batches"),
        ("openai", "GET batches/ID"),
        ("openai", "GET content"),
        ("anthropic", "POST batches"),
        ("anthropic", "GET results"),
    ],
)
def test_killed_at_any_moment_a_run_collects_what_it_paid_for_and_hands_in_nothing_twice(
    tmp_path: Path, provider: Provider, at: str
):
    model = f"{provider}:m"
    answer = lambda times, body: prose() if body["messages"][-1]["content"] == "text 3" else reply(GOOD)  # noqa: E731
    with BatchServer(provider, answer) as server:
        run = lambda: ask(make_caller(tmp_path, model, server.base_url), model, 6)  # noqa: E731
        child = get_context("fork").Process(target=run)

        def kill(what: str) -> None:
            if what == at:
                child.kill()
                wait([child.sentinel])

        server.before_answering = kill
        child.start()
        child.join(timeout=60)
        assert child.exitcode == -signal.SIGKILL
        server.before_answering = lambda what: None
        replies = ask(make_caller(tmp_path, model, server.base_url), model, 6)
        assert len(set(server.handed_in)) == len(server.handed_in) == 7, "six, and one that did not parse"
    assert all(got.error is None for got in replies)


def test_a_batch_of_anothers_is_not_taken_for_the_one_that_a_kill_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragassay.calls.direct._backoff", lambda state: 0.01)
    model = "anthropic:m"
    with BatchServer("anthropic") as server:
        caller = make_caller(tmp_path, model, server.base_url)
        server.faults = {"POST batches": ["cut"] * 9}
        [got] = ask(caller, model, 1)
        assert got.error
        stranger = {"custom_id": "someone-elses", "params": {"model": "m", "messages": [], "max_tokens": 5}}
        server.faults, server.answer = {}, lambda times, body: reply(GOOD)
        server.take([stranger])
        [got] = ask(make_caller(tmp_path, model, server.base_url), model, 1)
        assert got.error is None and len(server.batches) == 2
    assert "another's" in [line["state"] for line in log(tmp_path)]


def test_a_batch_that_another_model_hands_in_between_two_tries_is_not_taken_for_the_one_that_a_kill_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("ragassay.calls.direct._backoff", lambda state: 0.01)
    mine, other, looked_for = "anthropic:m", "anthropic:n", AnthropicBatches.find
    with BatchServer("anthropic") as server:
        server.faults = {"POST batches": ["cut"] * 9}
        assert ask(make_caller(tmp_path, mine, server.base_url), mine, 1)[0].error
        server.faults = {}
        faults: list[Any] = [{"GET batches": ["503"]}]
        settings = {"base_url": server.base_url, "mode": "batch", "poll_s": 0.01}
        models = {mine: settings, other: settings}
        run = {"retries": 2, "max_cost_usd": None}
        workspace = results_folder(tmp_path, experiment(mine, run=run, judge={"model": other}, models=models))
        caller = Caller(workspace, "judge", ReplyCache(workspace.replies), retry_after_cap_s=0.01)

        def find(provider: AnthropicBatches, line: Any, known: set[str]) -> str | None:
            end = time.monotonic() + 20
            while not any(row["model"] == other and row["batch"] for row in log(tmp_path)) and time.monotonic() < end:
                time.sleep(0.01)
            server.faults = faults.pop() if faults else {}
            return looked_for(provider, line, known)

        monkeypatch.setattr(AnthropicBatches, "find", find)
        replies = caller.ask([Batch("x", model, (request("text 0"),)) for model in models])
    assert [got.error for [got] in replies] == [None, None]
    batches = {(row["model"], row["batch"]) for row in log(tmp_path) if row["batch"]}
    assert len(batches) == len({batch for _, batch in batches}) == 2, "one was taken for the other's"


def test_ours_is_found_behind_anothers_of_the_same_size_and_not_handed_in_again(tmp_path: Path):
    model = "anthropic:m"
    stranger = {"custom_id": "someone-elses", "params": {"model": "m", "messages": [], "max_tokens": 5}}
    with BatchServer("anthropic", lambda times, body: reply(GOOD)) as server:

        def get_ahead(what: str) -> None:
            if what == "GET batches" and not server.batches:
                server.take([stranger])

        server.before_answering = get_ahead
        server.faults = {"POST batches": ["cut-after"]}
        [got] = ask(make_caller(tmp_path, model, server.base_url, retries=0), model, 1)
        assert got.error and len(server.batches) == 2
        [got] = ask(make_caller(tmp_path, model, server.base_url), model, 1)
        assert got.error is None and len(server.batches) == 2
    assert log(tmp_path)[-1]["batch"] == list(server.batches)[1]


def test_the_record_can_be_read_while_another_models_thread_adds_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragassay.calls.batches.apis.append", lambda path, value, **how: None)
    record, interval = BatchLog(tmp_path / "batches.jsonl", tmp_path / "batches"), sys.getswitchinterval()
    line = BatchLine(name="0", model="openai:m", base_url=None, digest="", n=1, state="submitted", at=0.0)
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor() as pool:
            adding = pool.submit(lambda: [record.step(line, name=str(at), batch=str(at)) for at in range(3000)])
            while not adding.done():
                record.ids(), record.open_batches("openai:m", None)
    finally:
        sys.setswitchinterval(interval)
    assert len(record.ids()) == 3000 == len(record.open_batches("openai:m", None))


@both
@pytest.mark.parametrize("first", ["cut", "cut-after"])
@pytest.mark.parametrize("second", ["cut", "cut-after"])
def test_batches_of_one_size_whose_answers_were_lost_are_told_apart(
    tmp_path: Path, provider: Provider, first: Any, second: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(APIS[provider], "limits", Limits(2, 10**6))
    model = f"{provider}:m"
    with BatchServer(provider) as server:
        server.faults = {"POST batches": [first, second]}
        replies = ask(make_caller(tmp_path, model, server.base_url, retries=0), model, 4)
        assert not any(got.value for got in replies)
        replies = ask(make_caller(tmp_path, model, server.base_url), model, 4)
        assert sorted(server.handed_in) == sorted(set(server.handed_in)) and len(server.handed_in) == 4
    assert all(got.error is None for got in replies)


@both
def test_files_keep_to_the_providers_limits(tmp_path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch):
    stated = {"openai": Limits(50_000, 200 * 10**6), "anthropic": Limits(100_000, 256 * 10**6)}
    assert APIS[provider].limits == stated[provider]
    monkeypatch.setattr(APIS[provider], "limits", Limits(3, 10**6))
    with BatchServer(provider) as server:
        replies = ask(make_caller(tmp_path, f"{provider}:m", server.base_url), f"{provider}:m", 8)
        assert [len(batch.requests) for batch in server.batches.values()] == [3, 3, 2]
    assert all(got.error is None for got in replies)


def test_a_full_queue_is_waited_for_and_then_asked_in_smaller_batches(tmp_path: Path):
    with BatchServer("openai") as server:
        server.fates = ["token_limit_exceeded", "token_limit_exceeded"]
        replies = ask(make_caller(tmp_path, "openai:m", server.base_url), "openai:m", 8)
        assert [len(batch.requests) for batch in server.batches.values()] == [8, 4, 4, 2, 2]
    assert all(got.error is None for got in replies)


def test_a_batch_that_is_refused_stops_the_run_in_one_sentence(tmp_path: Path):
    with BatchServer("openai") as server, pytest.raises(InputError, match=r"refused the batch .*does not exist"):
        server.fates = ["invalid_model"]
        ask(make_caller(tmp_path, "openai:m", server.base_url), "openai:m", 2)


@both
def test_a_batch_that_the_provider_no_longer_knows_is_not_paid_for_again_unasked(tmp_path: Path, provider: Provider):
    model = f"{provider}:m"
    with BatchServer(provider, looks=99) as server:
        server.faults = {"GET batches/ID": ["503"] * 99}
        with pytest.raises(InputError, match="run again to collect"):
            ask(make_caller(tmp_path, model, server.base_url, retries=0), model, 2)
        server.faults, server.forget = {}, True
        with pytest.raises(InputError, match=r"knows no batch .*batches\.jsonl"):
            ask(make_caller(tmp_path, model, server.base_url), model, 2)
        assert len(server.batches) == 1


@both
def test_the_cost_limit_is_checked_before_a_batch_is_handed_in_at_half_the_price(tmp_path: Path, provider: Provider):
    model = f"{provider}:m"
    answer = lambda times, body: reply(GOOD, input_tokens=10, output_tokens=50)  # noqa: E731
    with BatchServer(provider, answer) as server:
        with pytest.raises(BudgetSpent, match="nothing of them was handed in"):
            ask(make_caller(tmp_path, model, server.base_url, max_cost_usd=0.1), model, 10)
        assert not server.batches
        # A reply of 55 tokens is foreseen: ten of them and a few words cost some 60 cents, at half the price some 30.
        caller = make_caller(tmp_path, model, server.base_url, max_cost_usd=0.4)
        assert all(got.error is None for got in ask(caller, model, 10))
        assert caller.budget.spent_usd == pytest.approx(0.3)
        caller = make_caller(tmp_path / "other", model, server.base_url, max_cost_usd=0.8)
        ask(caller, model, 10)
        further = Batch("relevance", model, tuple(request(f"text {at}") for at in range(20)))
        assert len(caller.ask([further])[0]) == 20, "what was set aside for a batch is free again"


@both
def test_what_an_earlier_run_handed_in_counts_once(tmp_path: Path, provider: Provider):
    model = f"{provider}:m"
    with BatchServer(provider, looks=3) as server:
        server.faults = {"GET batches/ID": ["503"] * 3}
        with pytest.raises(InputError):
            ask(make_caller(tmp_path, model, server.base_url, retries=0), model, 4)
        caller = make_caller(tmp_path, model, server.base_url)
        ask(caller, model, 4)
        ask(caller, model, 4)
        assert caller.budget.spent_usd == pytest.approx(4 * 18 * 1e-3 / 2)


def test_rounds_go_through_it_a_batch_a_round(tmp_path: Path):
    with BatchServer("openai") as server:
        caller = make_caller(tmp_path, "openai:m", server.base_url)
        for first in (0, 3):
            caller.ask([Batch("games-1", "openai:m", tuple(request(str(n)) for n in range(first, first + 3)))])
        assert [len(batch.requests) for batch in server.batches.values()] == [3, 3]


def test_batches_and_direct_calls_of_two_models_go_on_side_by_side(tmp_path: Path):
    with BatchServer("openai") as batches, ScriptedServer("anthropic", [reply(GOOD)]) as direct:
        models = {
            "openai:m": {"base_url": batches.base_url, "mode": "batch", "poll_s": 0.01},
            "anthropic:m": {"base_url": direct.base_url},
        }
        workspace = results_folder(tmp_path, experiment(judge={"model": "anthropic:m"}, models=models))
        caller = Caller(workspace, "judge", ReplyCache(workspace.replies))
        rows = caller.ask([Batch("x", name, (request("a"), request("b"))) for name in models])
        assert len(batches.handed_in) == 2 == len(direct.requests)
    assert all(got.error is None for row in rows for got in row)


def test_the_whole_job_goes_through_batches_and_a_second_run_hands_in_none(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with BatchServer("openai", lambda times, body: reply(reply_to(body)), looks=1) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url)
        with (corpus / "experiment.toml").open("a") as settings:
            settings.write('mode = "batch"\npoll_s = 0.01\n')
        assert main(["run", str(corpus)]) == 0
        stages = ["questions", "pools", "rewrites", "answers", "relevance with pointwise", "games"]
        assert len(server.batches) == len(stages), "a batch for each time that a stage asks"
        assert main(["run", str(corpus)]) == 0 and len(server.batches) == len(stages)
    assert (tmp_path / "results/mine/report.html").exists()


def test_a_plan_counts_batches_at_half(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    corpus, costs = make_corpus(tmp_path / "mine", "openai:gpt-4o"), []
    for more in ("", '\n[models."openai:gpt-4o"]\nmode = "batch"\n'):
        with (corpus / "experiment.toml").open("a") as settings:
            settings.write(more)
        capsys.readouterr()
        assert main(["plan", str(corpus), "--json"]) == 0
        costs.append(sum(row["cost_usd"] for row in json.loads(capsys.readouterr().out)))
    assert costs[1] == pytest.approx(costs[0] / 2) and costs[1] > 0


def test_an_unreachable_server_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragassay.calls.direct._backoff", lambda state: 0.01)
    with BatchServer("openai") as server:
        url = server.base_url
    with pytest.raises(InputError, match="does not answer"):
        ask(make_caller(tmp_path, "openai:m", url), "openai:m", 2)


@both
@pytest.mark.parametrize("status", ["404", "405"])
def test_a_server_without_a_batch_api_is_said_with_its_remedy(tmp_path: Path, provider: Provider, status: Any):
    first = {"openai": "POST files", "anthropic": "GET batches"}[provider]
    with BatchServer(provider) as server:
        server.faults = {first: [status]}
        says = f'{provider}:m: the server at {server.base_url} has no batch API (status {status}); set mode = "direct"'
        with pytest.raises(InputError, match=re.escape(says)):
            ask(make_caller(tmp_path, f"{provider}:m", server.base_url), f"{provider}:m", 2)
        assert server.handed_in == [] and log(tmp_path)[-1]["state"] == "dropped"
        replies = ask(make_caller(tmp_path, f"{provider}:m", server.base_url), f"{provider}:m", 2)
    assert all(got.error is None for got in replies)


def test_progress_says_what_is_done_failed_and_how_long(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with BatchServer("openai", only("text 1", status(400)), looks=3) as server:
        caller = make_caller(tmp_path, "openai:m", server.base_url, progress=StderrProgress(every_s=0.0))
        ask(caller, "openai:m", 3)
    said = capsys.readouterr().err
    assert "judge: 0/3, in batches 0/3 done, waiting for 0:0" in said
    assert "judge: 3/3, 1 failed" in said


@pytest.mark.parametrize("model", ["local:m", "file:m"])
def test_batch_mode_is_refused_for_models_that_have_none(model: str):
    with pytest.raises(ValueError, match=r'mode = "batch" is for'):
        experiment(model, models={model: {"mode": "batch"}})


def test_the_request_file_of_an_open_batch_that_is_gone_is_said(tmp_path: Path):
    with BatchServer("openai") as server:
        server.faults = {"GET batches/ID": ["503"] * 3}
        with pytest.raises(InputError):
            ask(make_caller(tmp_path, "openai:m", server.base_url, retries=0), "openai:m", 1)
        for file in (tmp_path / "results/batches").glob("*.jsonl"):
            file.unlink()
        with pytest.raises(InputError, match="requests of an open batch are gone"):
            ask(make_caller(tmp_path, "openai:m", server.base_url), "openai:m", 1)
