"""Which passages are kept, and what reranking will ask, for a plan."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support.loopback.behaviours import reply
from support.loopback.json_server import JsonServer, cohere
from support.loopback.server import ScriptedServer

from ragassay.prompts import count_tokens
from ragassay.records import Passage
from ragassay.retrieval.rerankers.opening import Foreseen, above, foreseen, mmr, open_reranker

QUERY = np.array([1.0, 0.0])
VECTORS = {"a": np.array([2.0, 0.2]), "twin": np.array([1.0, 0.11]), "c": np.array([1.0, -1.0])}
RANKING = [("a", 9.0), ("twin", 8.0), ("c", 7.0)]


def test_a_twin_comes_after_what_says_something_else():
    # by hand: sim to the query .99504, .99401, .70711; sim(a, twin) .99995, sim(a, c) .63324, lambda .5
    got = mmr(RANKING, QUERY, VECTORS, 0.5)
    assert [passage for passage, _ in got] == ["a", "c", "twin"]
    assert got[0][1] == pytest.approx(0.5 * 0.99504, abs=1e-4)
    assert got[1][1] == pytest.approx(0.5 * (0.70711 - 0.63324), abs=2e-4)
    assert got[2][1] == pytest.approx(0.5 * (0.99401 - 0.99995), abs=2e-4)


@given(arrays(np.float64, (6, 3), elements=st.floats(-1, 1)), st.floats(0, 1), st.integers(0, 8))
def test_mmr_takes_each_passage_once_in_falling_worth(rows, lam, k):
    ranking = [(f"p{i}", 1.0 / (i + 1)) for i in range(5)]
    vectors = {f"p{i}": rows[i] for i in range(5)}
    got = mmr(ranking, rows[5], vectors, lam, k)
    assert len(got) == min(k, 5) == len({passage for passage, _ in got})
    assert all(one >= other for (_, one), (_, other) in pairwise(got))
    assert got == mmr(ranking, rows[5], vectors, lam)[:k]


@given(arrays(np.float64, (6, 3), elements=st.floats(0.1, 1)))
def test_lambda_one_is_the_order_by_cosine(rows):
    ranking = [(f"p{i}", 0.0) for i in range(5)]
    got = mmr(ranking, rows[5], {f"p{i}": rows[i] for i in range(5)}, 1.0)
    cosine = rows[:5] @ rows[5] / np.linalg.norm(rows[:5], axis=1) / np.linalg.norm(rows[5])
    assert [score for _, score in got] == pytest.approx(sorted(cosine, reverse=True), abs=1e-8)


def test_a_lambda_outside_its_range():
    with pytest.raises(ValueError, match=r"lam is 1\.5"):
        mmr(RANKING, QUERY, VECTORS, 1.5)


def test_a_threshold_may_leave_nothing():
    assert above(RANKING, 8.0) == RANKING[:2] and above(RANKING, 10.0) == []


PASSAGES = [Passage(_id=f"p{i}", text=f"passage {i} keeps the processor busy") for i in range(35)]
QUERIES = [f"which is number {i}?" for i in range(3)]
TOKENS = sum(count_tokens(passage.text) for passage in PASSAGES) / len(PASSAGES)


def of(name: str) -> Foreseen:
    return foreseen(name, len(QUERIES), len(PASSAGES), TOKENS, count_tokens(QUERIES[0]))


def test_the_calls_foreseen_are_those_made(open_folder, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    asked = [(query, PASSAGES) for query in QUERIES]
    with JsonServer(lambda number, path, body: cohere(body)) as server:
        workspace, caller = open_folder(base_url=server.address)
        open_reranker("rerank:tiny", workspace, caller).rerank(asked)
    assert of("rerank:tiny").calls == len(server.requests) == of("rerank:tiny").searches == 3

    def order(number: int, body: dict):
        return reply({"order": list(range(1, body["messages"][-1]["content"].count("<passage") + 1))})

    with ScriptedServer("openai", order) as chat:
        workspace, caller = open_folder("openai:m", base_url=chat.base_url)
        open_reranker("openai:m", workspace, caller).rerank(asked)
        sent = sum(count_tokens(m["content"]) for one in chat.requests for m in one.body["messages"])
    assert of("openai:m").calls == len(chat.requests) == 9
    assert of("openai:m").input_tokens == pytest.approx(sent, rel=0.5)
    assert of("cross-encoder/any") == Foreseen(0, 0, 0, 0)
    assert foreseen("rerank:tiny", 3, 250, 9.0, 9).searches == 3 * 3, "one for every hundred passages"
