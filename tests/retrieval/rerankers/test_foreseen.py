"""What a plan says of reranking, beside what is then asked."""

from __future__ import annotations

import pytest
from support.loopback.behaviours import reply
from support.loopback.json_server import JsonServer, cohere
from support.loopback.server import ScriptedServer

from ragassay.prompts import count_tokens
from ragassay.records import Passage
from ragassay.retrieval.rerankers.opening import Foreseen, foreseen, open_reranker

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
