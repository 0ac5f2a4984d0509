"""The row of 2,000 judgments: all contenders ask the same, and a miss is told in figures that were measured."""

from __future__ import annotations

import re

import pytest
from support.loopback.behaviours import reply
from support.loopback.server import ScriptedServer

from benchmarks.speed.openai_sdk import in_one_loop, in_threads
from benchmarks.speed.relevance import Taken, middle, ours, rows
from ragassay.evaluate.judging.engine.cases import Setup
from ragassay.evaluate.judging.judges import PROMPTS
from ragassay.evaluate.judging.judges.relevance import Relevance
from ragassay.prompts import Prompt


@pytest.fixture(autouse=True)
def _key_of_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    """It sets one for its own process, which here is that of all other tests."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")


def test_the_sdk_alone_is_sent_the_requests_that_ours_sends():
    from benchmarks.speed.relevance import MODEL, _case

    judge = Relevance(Setup(MODEL), Prompt.load(PROMPTS / "relevance.md"))
    requests = [judge.request(_case(number)) for number in range(3)]
    with ScriptedServer("openai", [reply({"reason": "It says so.", "label": 1})]) as server:
        for ask in (in_threads, in_one_loop):
            in_seconds = ask(requests, "judge", server.base_url, 2)
            assert all(seconds >= 0 for seconds in in_seconds)
        assert ours(3, server.base_url).failed == 0
        bodies = [request.body for request in server.requests]
    threads, loop, mine = bodies[:4], bodies[4:8], bodies[9:]
    wanted = {body["messages"][-1]["content"] for body in mine}
    for sent in (threads, loop):
        assert {body["messages"][-1]["content"] for body in sent} == wanted
        assert all(body["response_format"] == mine[0]["response_format"] for body in sent)


def test_a_miss_is_put_down_to_nothing_that_was_not_measured(capsys: pytest.CaptureFixture[str]):
    mine = middle([Taken(1000, 0, 9.0, 5.0), Taken(1000, 0, 8.0, 4.0), Taken(1000, 1, 30.0, 9.0)])
    assert mine == Taken(1000, 1, 9.0, 5.0)
    rows(mine, Taken(1000, 0, 8.0, 4.0), Taken(1000, 0, 10.0, 6.0), None)
    said = capsys.readouterr().out
    below = [line.strip() for line in said.splitlines() if line.startswith("     ")]
    reasons = [line for line in below if not line.startswith(("beside ", "with "))]
    assert reasons == [
        "the SDK by itself took 1.28 times the ideal; 1.12 times the SDK by itself",
        "the SDK by itself took 4.00 ms; 1.25 times the SDK by itself",
    ]
    assert not re.search("other work|busy", said)
