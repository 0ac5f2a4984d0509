"""Direct calls: the cost limit is never passed, and a server that is not there stops the run in one sentence."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from support.loopback.behaviours import Behaviour, cut, reply, status
from support.loopback.server import ScriptedServer
from support.results_folder import experiment, results_folder
from support.small_corpus import answer_everything, edit, make_corpus

from ragassay.calls.caller import Caller
from ragassay.calls.direct import Budget
from ragassay.calls.reply_cache import ReplyCache
from ragassay.cli import main
from ragassay.errors import BudgetSpent, InputError
from ragassay.models.requests import Batch, Request
from ragassay.prompts import Message


def claims_until_spent(budget: Budget, cost_usd: float, at_once: int) -> int:
    """How many calls go through when `at_once` are under way together."""
    made = 0
    while True:
        claimed = 0
        try:
            for _ in range(at_once):
                budget.claim(lambda: cost_usd)
                claimed += 1
        except BudgetSpent:
            return made + claimed
        finally:
            for _ in range(claimed):
                budget.end(cost_usd)
        made += claimed


@pytest.mark.parametrize("at_once", [1, 3, 32])
def test_calls_under_way_count(at_once: int):
    budget = Budget(5.0, 0.0, "judge")
    assert claims_until_spent(budget, 0.25, at_once) == 20
    assert budget.spent_usd == 5.0


def test_what_was_paid_before_does_not_make_a_call_dear():
    budget = Budget(20.0, 0.0, "judge")
    budget.spend(9.0)
    assert claims_until_spent(budget, 0.5, 8) == 22


def test_what_batches_have_set_aside_is_not_spent_twice():
    budget = Budget(5.0, 0.0, "judge")
    budget.reserve(4.0, 100)
    assert claims_until_spent(budget, 0.25, 1) == 4
    budget.settle(4.0, 3.0)
    assert claims_until_spent(budget, 0.25, 1) == 4, "the batches cost a dollar less"
    assert budget.spent_usd == 5.0


def test_a_first_call_that_alone_would_pass_the_limit_is_not_made():
    with pytest.raises(BudgetSpent, match=r"limit of \$1.00"):
        Budget(1.0, 0.0, "judge").claim(lambda: 1.5)


def test_without_a_limit_or_a_price_calls_go_on():
    Budget(None, 1e9, "judge").claim(lambda: 1e9)
    budget = Budget(1.0, 0.0, "judge")
    for _ in range(100):
        budget.claim(lambda: None)
        budget.end(None)
    assert budget.spent_usd == 0.0


def test_a_limit_that_is_spent_lets_no_call_through():
    with pytest.raises(BudgetSpent):
        Budget(1.0, 1.0, "judge").claim(lambda: None)


def test_calls_without_a_price_make_no_other_seem_cheaper():
    budget = Budget(1.5, 0.0, "judge")
    for cost_usd in (0.6, *[None] * 9):
        budget.claim(lambda: None)
        budget.end(cost_usd)
    budget.claim(lambda: None)
    with pytest.raises(BudgetSpent):
        budget.claim(lambda: None)


@pytest.fixture
def closed_port() -> int:
    """A port of this machine on which nothing listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def caller_of(folder: Path, base_url: str, retries: int = 0) -> Caller:
    models = {"openai:m": {"base_url": base_url, "timeout_s": 20.0}}
    workspace = results_folder(folder, experiment(run={"retries": retries, "max_concurrency": 2}, models=models))
    return Caller(workspace, "answer", ReplyCache(workspace.replies))


def batch(*texts: str) -> Batch:
    return Batch("x", "openai:m", tuple(Request((Message("user", text),)) for text in texts))


def test_the_first_requests_tell_and_the_others_are_not_tried(tmp_path: Path):
    with ScriptedServer("openai", [cut("before")]) as server:
        with pytest.raises(InputError, match="openai:m does not answer"):
            caller_of(tmp_path, server.base_url).ask([batch(*map(str, range(100)))])
        assert len(server.requests) < 10


def test_the_reason_is_the_systems_own(tmp_path: Path, closed_port: int):
    with pytest.raises(InputError, match="refused"):
        caller_of(tmp_path, f"http://127.0.0.1:{closed_port}/v1").ask([batch("a")])


def test_an_error_of_the_provider_is_an_answer(tmp_path: Path):
    with ScriptedServer("openai", [status(500), *[cut("before")] * 9]) as server:
        caller = caller_of(tmp_path, server.base_url)
        caller.ask([batch("first")])
        [replies] = caller.ask([batch(*map(str, range(5)))])
    assert all("connection failed" in str(got.error) for got in replies)


def test_one_call_of_many_that_is_always_lost_is_a_record_with_an_error(tmp_path: Path):
    def script(number: int, body: dict[str, Any]) -> Behaviour:
        del number
        return cut("before") if body["messages"][0]["content"] == "poison" else reply("sound")

    with ScriptedServer("openai", script) as server:
        asked = batch("a", "b", "c", "poison")
        caller_of(tmp_path, server.base_url).ask([asked])
        [replies] = caller_of(tmp_path, server.base_url).ask([asked])
    assert [got.error is None for got in replies] == [True, True, True, False]


def test_a_stage_stops_with_status_2_and_goes_on_when_the_server_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], closed_port: int
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-not-a-key")
    away = f"http://127.0.0.1:{closed_port}/v1"
    corpus = make_corpus(tmp_path / "mine", "openai:m", away, retries=0)
    assert main(["ingest", str(corpus)]) == 0 and main(["questions", str(corpus)]) == 2
    assert "openai:m: nobody answers at" in capsys.readouterr().err.strip().split("\n")[-1]
    with ScriptedServer("openai", answer_everything) as server:
        edit(corpus, away, server.base_url)
        assert main(["questions", str(corpus)]) == 0
