"""Embeddings of a server over real HTTP: batched, kept, counted, paid once, and one sentence where it fails."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from support.loopback.json_server import JsonServer, Sent, embeddings, vector
from support.results_folder import experiment, results_folder

from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.errors import BudgetSpent, InputError
from ragassay.experiment.workspace import Workspace
from ragassay.records import Passage, Query
from ragassay.retrieval.rank_queries import rank_queries
from ragassay.retrieval.rankers.embedding_cache import Text
from ragassay.retrieval.retrievers import check_embedding, open_embedder

MODEL = "openai:tiny"
TEXTS = [Text("passage", f"passage number {i}") for i in range(100)] + [Text("query", "what is it?")]
CALLS = math.ceil(100 / 32) + 1


@pytest.fixture(autouse=True)
def key(monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai")


def workspace_of(root: Path, address: str, model: str = MODEL, run: dict | None = None, **more: object) -> Workspace:
    table = {"base_url": f"{address}/v1", "prices_usd_per_million": {"input": 1000.0}, "timeout_s": 5.0, **more}
    retrieval = {"embedding": model, "retrievers": ["knn"], "k": 2}
    run = {"retries": 1, "max_concurrency": 4, **(run or {})}
    settings = experiment("file:any", retrieval=retrieval, run=run, models={model: table}, answer={"agents": ["rag"]})
    return results_folder(root, settings)


def caller_of(workspace: Workspace) -> Caller:
    return Caller(workspace, "retrieve", ReplyCache(workspace.replies), retry_after_cap_s=0.05)


def embed(workspace: Workspace, texts=TEXTS, model: str = MODEL) -> tuple[np.ndarray, Caller]:
    caller = caller_of(workspace)
    return open_embedder(model, workspace, caller=caller).vectors(texts), caller


def answer(number: int, path: str, body: dict) -> Sent:
    assert path == "/v1/embeddings" and body["model"] == "tiny" and body["encoding_format"] == "float"
    return embeddings(body)


def test_each_text_is_asked_for_once_in_batches_and_its_vector_is_the_servers(tmp_path: Path):
    with JsonServer(answer) as server:
        workspace = workspace_of(tmp_path, server.address)
        vectors, caller = embed(workspace, [*TEXTS, *TEXTS[:3]])
        assert len(server.requests) == CALLS and server.most_at_once <= 4
        assert sorted(t for _, _, body in server.requests for t in body["input"]) == sorted(t.text for t in TEXTS)
        assert {headers["authorization"] for _, headers, _ in server.requests} == {"Bearer key-of-openai"}
        again, later = embed(workspace)
        assert len(server.requests) == CALLS and np.array_equal(vectors[:101], again)
    expected = np.array([vector(text.text) for text in TEXTS])
    assert vectors[:101].astype(float) == pytest.approx(
        expected / np.linalg.norm(expected, axis=1, keepdims=True), abs=1e-3
    )
    [usage] = caller.usage()
    assert (usage.model, usage.calls, usage.input_tokens, usage.n_failed) == (MODEL, CALLS, 5 * 101, 0)
    assert usage.cost_usd == pytest.approx(0.505)
    assert later.usage() == caller.usage() and later.spent_usd == pytest.approx(0.505)


def test_e5_gets_its_prefixes_on_a_server_too(tmp_path: Path):
    model = "openai:intfloat/multilingual-e5-base"
    with JsonServer(lambda number, path, body: embeddings(body)) as server:
        embed(workspace_of(tmp_path, server.address, model), [Text("query", "a"), Text("passage", "b")], model)
    assert sorted(body["input"][0] for _, _, body in server.requests) == ["passage: b", "query: a"]


def test_a_server_that_dies_midway_is_one_sentence_and_what_came_is_kept(tmp_path: Path):
    def dies(number: int, path: str, body: dict) -> Sent:
        return embeddings(body) if number < 2 else Sent(drop=True)

    with JsonServer(dies) as server:
        workspace = workspace_of(tmp_path, server.address, run={"max_concurrency": 1})
        with pytest.raises(InputError, match=r"openai:tiny cannot embed: the connection failed.*run again to go on"):
            embed(workspace)
    assert len(list(workspace.embeddings.glob("*.npz"))) == 2


def test_a_model_at_another_address_is_another_model(tmp_path: Path):
    with JsonServer(answer) as first, JsonServer(answer) as second:
        embed(workspace_of(tmp_path, first.address))
        embed(workspace_of(tmp_path, second.address))
        assert len(first.requests) == len(second.requests) == CALLS


def test_after_a_death_midway_only_the_rest_is_asked(tmp_path: Path):
    alive = [False]

    def dies(number: int, path: str, body: dict) -> Sent:
        return embeddings(body) if alive[0] or number < 2 else Sent({"error": {"message": "gone"}}, 503)

    with JsonServer(dies) as server:
        workspace = workspace_of(tmp_path, server.address, run={"max_concurrency": 1})
        with pytest.raises(InputError, match="openai:tiny cannot embed: status 503"):
            embed(workspace)
        before, alive[0] = len(server.requests), True
        vectors, caller = embed(workspace)
        assert len(server.requests) - before == CALLS - 2 and len(vectors) == 101
    assert caller.usage()[0].input_tokens == 5 * 101


def test_a_server_that_is_not_there_is_one_sentence(tmp_path: Path):
    with JsonServer(answer) as server:
        workspace = workspace_of(tmp_path, server.address)
    with pytest.raises(InputError, match=r"openai:tiny cannot embed: the connection failed .*Connection refused"):
        embed(workspace)
    with pytest.raises(InputError, match=r"openai:tiny: nobody answers at http://127\.0\.0\.1"):
        check_embedding(MODEL, workspace, "knn")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda rows: rows[1:], "31 vectors for 32 texts"),
        (lambda rows: [rows[0], rows[0], *rows[2:]], "vectors of other texts than those asked"),
        (lambda rows: [{**rows[0], "embedding": [1.0] * 7}, *rows[1:]], "vectors of different lengths"),
        (lambda rows: [{**rows[0], "embedding": [math.nan] * 8}, *rows[1:]], "holds something that is no number"),
        (lambda rows: [{**rows[0], "embedding": [0.0] * 8}, *rows[1:]], "a vector that is zero"),
        (lambda rows: [{"object": "embedding"}] * 32, "not laid out as expected|other texts"),
        (lambda rows: None, "no list of embeddings"),
    ],
)
def test_a_reply_that_cannot_be_used_is_asked_for_once_more_and_then_one_sentence(tmp_path: Path, spoil, said: str):
    def spoilt(number: int, path: str, body: dict) -> Sent:
        sent = embeddings(body)
        return Sent({**sent.body, "data": spoil(sent.body["data"])})

    with JsonServer(spoilt) as server:
        workspace = workspace_of(tmp_path, server.address, run={"max_concurrency": 1})
        with pytest.raises(InputError, match=f"openai:tiny cannot embed: the server gave .*({said})"):
            embed(workspace, TEXTS[:32])
    assert len(server.requests) == 2
    assert not list(workspace.embeddings.glob("*.npz"))


def test_vectors_of_another_length_than_before_are_refused(tmp_path: Path):
    def shorter(number: int, path: str, body: dict) -> Sent:
        sent = embeddings(body)
        cut = [{**row, "embedding": row["embedding"][: 8 if number == 0 else 6]} for row in sent.body["data"]]
        return Sent({**sent.body, "data": cut})

    with JsonServer(shorter) as server:
        workspace = workspace_of(tmp_path, server.address, run={"max_concurrency": 1})
        with pytest.raises(InputError, match="gives vectors of 6 numbers, where there are some of 8"):
            embed(workspace)


def test_at_the_cost_limit_it_stops_and_keeps_what_was_paid(tmp_path: Path):
    with JsonServer(answer) as server:
        workspace = workspace_of(tmp_path, server.address, run={"max_concurrency": 1, "max_cost_usd": 0.4})
        with pytest.raises(BudgetSpent, match="cost limit"):
            embed(workspace)
        paid = len(server.requests)
        assert 0 < paid < CALLS and len(list(workspace.embeddings.glob("*.npz"))) == paid
        embed(workspace_of(tmp_path, server.address))
        assert len(server.requests) == CALLS


def test_the_stage_ranks_with_a_served_model_and_asks_nothing_twice(tmp_path: Path):
    with JsonServer(answer) as server:
        workspace = workspace_of(tmp_path, server.address)
        found = results_folder(
            tmp_path,
            workspace.experiment,
            passages=[Passage(_id=f"p{i}", text=f"text {i}") for i in range(5)],
            queries=[Query(_id="q1", text="text 3"), Query(_id="q2", text="text 1")],
        )
        rank_queries(found, caller_of(found))
        rank_queries(found, caller_of(found))
    assert sorted(t for _, _, body in server.requests for t in body["input"]) == sorted(
        [f"text {i}" for i in range(5)] + ["text 3", "text 1"]
    )
    run = found.rankings("knn-rag").read_text().splitlines()
    assert run[0].split()[:3] == ["q1", "Q0", "p3"] and float(run[0].split()[4]) == pytest.approx(1, abs=1e-3)


OWN = """
class Mine:
    def embed_documents(self, texts):
        return [[float(len(text)), 1.0] for text in texts]
    def embed_query(self, text):
        if text == "bad":
            raise RuntimeError("no such thing")
        return [1.0, float(len(text))]

def make():
    return Mine()
"""


@pytest.mark.parametrize("name", ["Mine", "make"])
def test_a_langchain_embeddings_of_ones_own(tmp_path: Path, name: str):
    workspace = results_folder(tmp_path, experiment("file:any"))
    (workspace.corpus / f"own_embeddings_{name}.py").write_text(OWN)
    named = f"python:own_embeddings_{name}:{name}"
    check_embedding(named, workspace, "knn")
    embedder = open_embedder(named, workspace)
    got = embedder.vectors([Text("passage", "abc"), Text("query", "abc")]).astype(float)
    assert got == pytest.approx(np.array([[3, 1], [1, 3]]) / math.sqrt(10), abs=1e-3)
    with pytest.raises(InputError, match=r"cannot embed \(RuntimeError: no such thing"):
        embedder.vectors([Text("query", "bad")])
    (workspace.corpus / f"own_embeddings_{name}.py").write_text(OWN + "# changed\n")
    assert open_embedder(named, workspace).identity != embedder.identity


@pytest.mark.parametrize(
    ("name", "said"),
    [("python:nowhere_to_be_found:x", "there is no module nowhere_to_be_found"), ("python:only", "names no object")],
)
def test_code_that_is_not_there_is_one_sentence(tmp_path: Path, name: str, said: str):
    with pytest.raises(InputError, match=said):
        check_embedding(name, results_folder(tmp_path, experiment("file:any")), "knn")
