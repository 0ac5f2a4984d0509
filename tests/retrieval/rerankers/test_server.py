"""Rerank servers over real HTTP, as Cohere, Jina, vLLM and TEI document them, and what is said where they misbehave."""

from __future__ import annotations

import _thread
import math
import time

import pytest
from support.loopback.json_server import JsonServer, Sent, cohere, score, tei, vllm

from ragassay.errors import BudgetSpent, InputError
from ragassay.records import Passage
from ragassay.retrieval.rerankers.opening import check_reranker, kind_of, open_reranker
from ragassay.retrieval.rerankers.rerankers import Failed, reranked

MODEL = "rerank:tiny"


@pytest.mark.parametrize(
    ("layout", "base", "path"),
    [(cohere, "/v2", "/v2/rerank"), (vllm, "/v1", "/v1/rerank"), (vllm, "", "/rerank"), (tei, "", "/rerank")],
)
def test_the_scores_are_the_servers_whichever_layout_it_speaks(open_folder, three, layout, base: str, path: str):
    queries = ["busy wait", "interrupts sei"]
    with JsonServer(lambda number, path, body: layout(body)) as server:
        workspace, caller = open_folder(base_url=server.address + base, run={"max_concurrency": 1})
        got = open_reranker(MODEL, workspace, caller).rerank([(query, three) for query in queries])
        asked = len(server.requests)
        again = open_reranker(MODEL, *open_folder(base_url=server.address + base)).rerank([(queries[1], three)])
        assert len(server.requests) == asked == (3 if layout is tei else 2)
    assert got == [[score(query, p.text) for p in three] for query in queries] and again == got[1:]
    assert {sent for sent, _, _ in server.requests} == {path}
    assert [p for p, _ in reranked(three, got[0])] == ["p2", "p1", "p3"]


def test_more_passages_than_tei_takes_at_once(open_folder):
    passages = [Passage(_id=f"p{i}", text=f"word{i} busy") for i in range(50)]
    with JsonServer(lambda number, path, body: tei(body)) as server:
        workspace, caller = open_folder(base_url=server.address)
        [got] = open_reranker(MODEL, workspace, caller).rerank([("busy word40", passages)])
    assert got == [1.0 if i == 40 else 0.5 for i in range(50)]
    assert [len(body["texts"]) for _, _, body in server.requests if "texts" in body] == [32, 18]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda rows: rows[1:], "2 scores for 3 passages"),
        (lambda rows: [rows[0], rows[0], rows[2]], "two scores for passage"),
        (lambda rows: [{**rows[0], "index": 3}, *rows[1:]], "a score for passage 3, where there are 3 from 0"),
        (lambda rows: [{**rows[0], "index": -1}, *rows[1:]], "a score for passage -1"),
        (lambda rows: [{**rows[0], "relevance_score": math.nan}, *rows[1:]], "a score that is no number"),
        (lambda rows: [{**rows[0], "relevance_score": "0.9"}, *rows[1:]], "a score that is no number"),
        (lambda rows: [{"index": 0}] * 3, "a reply that is not laid out as expected"),
        (lambda rows: "none", "no list of results"),
    ],
)
def test_a_reply_that_cannot_be_used_fails_its_query_alone(open_folder, three, spoil, said: str):
    def spoilt(number: int, path: str, body: dict) -> Sent:
        sent = cohere(body)
        bad = body["query"] == "busy wait"
        return Sent({**sent.body, "results": spoil(sent.body["results"])}) if bad else sent

    with JsonServer(spoilt) as server:
        workspace, caller = open_folder(base_url=server.address)
        failed, fine = open_reranker(MODEL, workspace, caller).rerank([("busy wait", three), ("sei", three)])
        assert isinstance(failed, Failed) and said in failed.error and fine == [1.0, 0.0, 0.0]
        assert len(server.requests) == 3, "a reply that cannot be used is asked for once more"
        assert caller.usage()[0].n_failed == 1 and caller.usage()[0].calls == 3
        open_reranker(MODEL, *open_folder(base_url=server.address)).rerank([("busy wait", three), ("sei", three)])
        assert len(server.requests) == 5, "only the query that failed is asked again"


def test_a_server_that_dies_midway_is_one_sentence_and_resumes(open_folder, three):
    alive = [False]
    queries = [(f"busy wait {i}", three) for i in range(12)]

    def dies(number: int, path: str, body: dict) -> Sent:
        return cohere(body) if alive[0] or number < 4 else Sent(drop=True)

    with JsonServer(dies) as server:
        run = {"max_concurrency": 1, "retries": 0}
        with pytest.raises(
            InputError, match=r"rerank:tiny does not answer any more: the connection failed.*nothing is"
        ):
            open_reranker(MODEL, *open_folder(base_url=server.address, run=run)).rerank(queries)
        before, alive[0] = len(server.requests), True
        got = open_reranker(MODEL, *open_folder(base_url=server.address, run=run)).rerank(queries)
        assert len(server.requests) - before == 12 - 4
    assert not any(isinstance(one, Failed) for one in got)


def test_a_server_that_is_not_there_and_one_without_an_address(open_folder, three):
    with JsonServer(lambda number, path, body: cohere(body)) as server:
        pass
    workspace, caller = open_folder(base_url=server.address)
    with pytest.raises(InputError, match="rerank:tiny does not answer: the connection failed"):
        open_reranker(MODEL, workspace, caller).rerank([("busy", three)])
    with pytest.raises(InputError, match="rerank:tiny: nobody answers at"):
        check_reranker(MODEL, workspace)
    with pytest.raises(InputError, match="rerank:tiny has no base_url"):
        check_reranker(MODEL, open_folder()[0])


def test_what_a_server_says_of_a_request_it_refuses_is_the_querys_error(open_folder, three):
    said = {"error": "Input validation error: `query` cannot be empty", "error_type": "Validation"}
    with JsonServer(lambda number, path, body: Sent(said, 413)) as server:
        [got] = open_reranker(MODEL, *open_folder(base_url=server.address)).rerank([("busy", three)])
    assert isinstance(got, Failed) and "status 413" in got.error and "`query` cannot be empty" in got.error


def test_a_refused_key_ends_it_at_once(open_folder, three):
    with JsonServer(lambda number, path, body: Sent({"message": "invalid api token"}, 401)) as server:
        with pytest.raises(InputError, match="rerank:tiny: the provider refused the key"):
            open_reranker(MODEL, *open_folder(base_url=server.address)).rerank([("busy", three), ("sei", three)])
        assert len(server.requests) <= 2


def test_too_many_requests_are_retried(open_folder, three):
    def busy(number: int, path: str, body: dict) -> Sent:
        return Sent({"message": "slow down"}, 429, {"Retry-After": "0.01"}) if number == 0 else cohere(body)

    with JsonServer(busy) as server:
        [got] = open_reranker(MODEL, *open_folder(base_url=server.address)).rerank([("busy", three)])
    assert got == [0.0, 1.0, 0.0] and len(server.requests) == 2


def test_nothing_follows_a_redirect_to_another_host(open_folder, three, monkeypatch):
    monkeypatch.setenv("RERANK_API_KEY", "secret-of-the-first")
    with JsonServer(lambda number, path, body: cohere(body)) as other:
        there = {"Location": f"{other.address}/rerank"}
        with (
            JsonServer(lambda number, path, body: Sent({}, 307, there)) as server,
            pytest.raises(InputError, match=r"sends calls on to .* and nothing was sent there"),
        ):
            open_reranker(MODEL, *open_folder(base_url=server.address)).rerank([("busy", three)])
        assert server.requests[0][1]["authorization"] == "Bearer secret-of-the-first" and not other.requests


@pytest.mark.parametrize(
    ("address", "variable"),
    [
        ("https://api.cohere.com/v2", "COHERE_API_KEY"),
        ("https://api.jina.ai/v1", "JINA_API_KEY"),
        ("https://notcohere.com/v2", None),
    ],
)
def test_whose_key_is_wanted_is_said_by_the_host(open_folder, monkeypatch, address: str, variable: str | None):
    from ragassay.models.servers import rerank_key

    for name in ("COHERE_API_KEY", "JINA_API_KEY"):
        monkeypatch.setenv(name, f"{name}-value")
    monkeypatch.setenv("RERANK_API_KEY", "any")
    assert rerank_key(address) == ((variable, f"{variable}-value") if variable else ("RERANK_API_KEY", "any"))
    if variable:
        monkeypatch.delenv(variable)
        with pytest.raises(InputError, match=f"needs a key and {variable} is not set"):
            check_reranker(MODEL, open_folder(base_url=address)[0])


def test_searches_and_tokens_are_paid_as_they_are_billed(open_folder, three):
    asked = [(f"busy {i}", three) for i in range(3)]
    with JsonServer(lambda number, path, body: cohere(body)) as server:
        workspace, caller = open_folder(base_url=server.address, prices_usd_per_million={"search": 2000.0})
        open_reranker(MODEL, workspace, caller).rerank(asked)
        assert caller.usage()[0].cost_usd == pytest.approx(3 * 0.002) and caller.spent_usd == pytest.approx(0.006)
    with JsonServer(lambda number, path, body: vllm(body)) as server:
        workspace, caller = open_folder(base_url=server.address, prices_usd_per_million={"input": 1000.0})
        workspace.server_calls.unlink()
        caller = type(caller)(workspace, "screen", caller._register._cache)
        open_reranker(MODEL, workspace, caller).rerank(asked)
        assert caller.usage()[0].input_tokens == 3 * 56 and caller.usage()[0].cost_usd == pytest.approx(0.168)


def test_the_cost_limit_holds_for_searches(open_folder, three):
    asked = [(f"busy {i}", three) for i in range(5)]
    run = {"max_concurrency": 1, "max_cost_usd": 0.005}
    with JsonServer(lambda number, path, body: cohere(body)) as server:
        opened = open_folder(base_url=server.address, run=run, prices_usd_per_million={"search": 2000.0})
        with pytest.raises(BudgetSpent):
            open_reranker(MODEL, *opened).rerank(asked)
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("cross-encoder/ms-marco-MiniLM-L6-v2", "cross-encoder"),
        ("rerank:jina-reranker-v2-base-multilingual", "server"),
        ("openai:gpt-4o-mini", "listwise"),
        ("python:mine:Compressor", "python"),
    ],
)
def test_what_a_name_stands_for(name: str, kind: str):
    assert kind_of(name) == kind


def test_a_provider_that_does_not_exist():
    with pytest.raises(InputError, match=r"'cohere:rerank-v3.5' names no reranker; write rerank:NAME"):
        kind_of("cohere:rerank-v3.5")


@pytest.mark.parametrize("meta", [{"billed_units": None}, {"billed_units": {"search_units": math.inf}}, [1], "x"])
def test_what_is_said_of_the_charge_may_be_anything(open_folder, three, meta):
    with JsonServer(lambda number, path, body: Sent({**cohere(body).body, "meta": meta})) as server:
        workspace, caller = open_folder(base_url=server.address)
        assert open_reranker(MODEL, workspace, caller).rerank([("busy wait", three)]) != []
    assert [row.searches for row in caller.served(MODEL)] == [1]


def test_what_is_under_way_at_a_stop_is_kept_and_not_paid_again(open_folder, three):
    def interrupted(number: int, path: str, body: dict) -> Sent:
        if number == 1:
            _thread.interrupt_main()
            time.sleep(0.5)
        return cohere(body)

    asked = [(query, three) for query in ("busy wait", "interrupts sei", "delay", "util", "header")]
    with JsonServer(interrupted) as server:
        workspace, caller = open_folder(base_url=server.address)
        with pytest.raises(KeyboardInterrupt):
            open_reranker(MODEL, workspace, caller).rerank(asked)
        assert len(server.requests) < len(asked)
        open_reranker(MODEL, *open_folder(base_url=server.address)).rerank(asked)
    assert sorted(body["query"] for _, _, body in server.requests) == sorted(query for query, _ in asked)
