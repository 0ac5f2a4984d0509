"""What is embedded, by which prefix, how often, here or on a server; and what is said where it cannot be."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from support.loopback.json_server import JsonServer, Sent, embeddings, vector
from support.results_folder import experiment, results_folder

from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.errors import BudgetSpent, InputError, MissingExtra
from ragassay.experiment.workspace import Workspace
from ragassay.prompts import count_tokens
from ragassay.records import Passage, Query
from ragassay.retrieval.rank_queries import rank_queries
from ragassay.retrieval.rankers.embedding import Embedder, load_encoder, model_identity, prompt_for
from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache, Text
from ragassay.retrieval.retrievers import check_embedding, open_embedder

pytestmark = pytest.mark.xdist_group("models")

BOTH = [Text("query", "what is malloc?"), Text("passage", "malloc allocates")]


def embedded(stub, model: str, prompts: dict[str, str] | None = None) -> list[str]:
    encoder = stub(prompts)
    Embedder(model, EmbeddingCache(model, None), lambda _: encoder).vectors(BOTH)
    return sorted(encoder.embedded)


@pytest.mark.parametrize(
    "model",
    ["intfloat/multilingual-e5-base", "intfloat/e5-large-v2", "/models/multilingual-e5-small", "E5-base",
     "/cache/models--intfloat--multilingual-e5-base/snapshots/d13f1b27"],
)  # fmt: skip
def test_e5_gets_its_prefixes_where_it_declares_none(stub, model: str) -> None:
    expected = ["passage: malloc allocates", "query: what is malloc?"]
    assert embedded(stub, model) == expected
    assert embedded(stub, model, {"query": "", "document": ""}) == expected


@pytest.mark.parametrize("passage", ["document", "passage", "corpus"])
def test_a_model_that_declares_its_prompts_gets_them_once(stub, passage: str) -> None:
    prompts = {"query": "query: ", passage: "passage: "}
    for model in ("intfloat/multilingual-e5-base", "acme/embedder"):
        assert embedded(stub, model, prompts) == ["passage: malloc allocates", "query: what is malloc?"]


def test_a_prompt_declared_for_queries_alone_leaves_passages_bare(stub) -> None:
    prompts = {"query": "Represent this sentence for searching relevant passages: ", "document": ""}
    for model in ("BAAI/bge-base-en-v1.5", "acme/e5-tuned"):
        assert embedded(stub, model, prompts) == [prompts["query"] + "what is malloc?", "malloc allocates"]


@pytest.mark.parametrize("model", ["all-MiniLM-L6-v2", "acme/core5-base", "acme/e512", "/e5/all-MiniLM"])
def test_other_models_get_no_prefix(stub, model: str) -> None:
    assert embedded(stub, model) == ["malloc allocates", "what is malloc?"]


def test_e5_tuned_on_instructions_gets_one_before_queries_alone() -> None:
    model = "intfloat/multilingual-e5-large-instruct"
    assert prompt_for(model, {}, "query").startswith("Instruct: ") and prompt_for(model, {}, "query").endswith(
        "Query: "
    )
    assert prompt_for(model, {}, "passage") == ""


def test_each_text_is_embedded_once_and_the_model_loaded_once(stub) -> None:
    encoder, loaded = stub(), []
    embedder = Embedder("m", EmbeddingCache("m", None), lambda name: loaded.append(name) or encoder)
    first = embedder.vectors([*BOTH, BOTH[0]])
    again = embedder.vectors([*BOTH, Text("passage", "another")])
    assert sorted(encoder.embedded) == ["another", "malloc allocates", "what is malloc?"]
    assert loaded == ["m"]
    assert np.array_equal(first[:2], again[:2]) and np.array_equal(first[0], first[2])


def test_a_fresh_run_and_a_cached_one_have_the_same_vectors(stub, tmp_path: Path) -> None:
    fresh = Embedder("m", EmbeddingCache("m", tmp_path), lambda _: stub()).vectors(BOTH)

    def refuse(_: str):
        raise AssertionError("the model was loaded though every text is cached")

    cached = Embedder("m", EmbeddingCache("m", tmp_path), refuse).vectors(BOTH)
    assert fresh.dtype == np.float16 and np.array_equal(fresh, cached)
    assert np.linalg.norm(fresh.astype(float), axis=1) == pytest.approx(1, abs=1e-3)


def test_killed_halfway_it_goes_on_from_what_was_written(stub, tmp_path: Path) -> None:
    texts = [Text("passage", f"number {i}") for i in range(1200)]

    class Dies(stub):
        def _vector(self, text: str):
            if len(self.embedded) == 1100:
                raise KeyboardInterrupt
            return super()._vector(text)

    with pytest.raises(KeyboardInterrupt):
        Embedder("m", EmbeddingCache("m", tmp_path), lambda _: Dies()).vectors(texts)
    encoder = stub()
    progress: list[tuple[int, int]] = []
    cache = EmbeddingCache("m", tmp_path)
    vectors = Embedder("m", cache, lambda _: encoder, lambda *at: progress.append(at)).vectors(texts)
    assert len(encoder.embedded) == 1200 - 1024 and progress == [(176, 176)]
    assert vectors.shape == (1200, 32)


def test_without_sentence_transformers_only_what_needs_it_fails(stub, tmp_path: Path, monkeypatch) -> None:
    Embedder("m", EmbeddingCache("m", tmp_path), lambda _: stub()).vectors(BOTH)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    embedder = Embedder("m", EmbeddingCache("m", tmp_path))
    assert len(embedder.vectors(BOTH)) == 2
    with pytest.raises(MissingExtra, match="knn needs sentence-transformers for 2 texts not yet embedded"):
        embedder.vectors([*BOTH, Text("query", "new"), Text("passage", "also new")])


def test_a_hub_that_cannot_be_reached_is_one_sentence_with_ways_out(monkeypatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(
        InputError, match=r"the hub cannot be reached and it is not in the local cache; .*all-MiniLM-L6-v2"
    ):
        load_encoder("nobody/no-such-model-here")


def test_a_name_that_no_model_can_have(monkeypatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match=r"'\./models/not here' cannot be loaded: there is no such folder"):
        load_encoder("./models/not here")


def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="cannot be loaded: "):
        load_encoder(str(tmp_path))


@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
def test_a_vector_that_says_nothing_is_refused(stub, value: float) -> None:
    class Broken(stub):
        def _vector(self, text: str):
            return np.full(4, value, np.float32)

    with pytest.raises(InputError, match="gives no vector for"):
        Embedder("m", EmbeddingCache("m", None), lambda _: Broken()).vectors(BOTH)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A function that writes a real sentence-transformers model of a few words into a folder of the given name."""
    import tokenizers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    words = ["[UNK]", "query", "passage", "malloc", "heap", "Q", "D", ":"]

    def make(name: str, prompts: dict[str, str] | None = None) -> str:
        folder = tmp_path_factory.mktemp("models") / name
        tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({w: i for i, w in enumerate(words)}, "[UNK]"))
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
        weights = np.random.default_rng(7).normal(size=(len(words), 8)).astype(np.float32)
        module = StaticEmbedding(tokenizer, embedding_weights=weights)
        SentenceTransformer(modules=[module], prompts=prompts, device="cpu").save(str(folder))
        return str(folder)

    return make


@pytest.mark.parametrize(
    ("name", "prompts", "query", "passage"),
    [
        ("tiny-e5-base", None, "query: malloc", "passage: malloc"),
        ("tiny-base", None, "malloc", "malloc"),
        ("tiny-e5-own", {"query": "Q: ", "document": "D: "}, "Q: malloc", "D: malloc"),
    ],
)
def test_a_real_model_from_a_folder_embeds_the_prefixed_text(tiny, name, prompts, query, passage) -> None:
    folder = tiny(name, prompts)
    vectors = Embedder(folder, EmbeddingCache(folder, None)).vectors(
        [Text("query", "malloc"), Text("passage", "malloc")]
    )
    expected = load_encoder(folder).encode([query, passage], prompt="", normalize_embeddings=True)
    assert vectors.astype(float) == pytest.approx(expected, abs=1e-3)


def test_a_folders_identity_is_its_content(tiny) -> None:
    one, same, other = tiny("e5"), tiny("e5"), tiny("e5", {"query": "Q: "})
    assert model_identity(one) == model_identity(same) != model_identity(other)
    assert model_identity("intfloat/multilingual-e5-base") == "intfloat/multilingual-e5-base"


def test_minilm_gives_the_similarities_that_its_documentation_prints(minilm) -> None:
    # README of sentence-transformers: model.similarity(embeddings, embeddings) for these three sentences
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    embedder = Embedder("all-MiniLM-L6-v2", EmbeddingCache("all-MiniLM-L6-v2", None), lambda _: minilm)
    vectors = embedder.vectors([Text("passage", text) for text in texts]).astype(float)
    expected = np.array([[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]])
    assert vectors @ vectors.T == pytest.approx(expected, abs=2e-3)


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
    assert later.usage() == caller.usage() and later.budget.spent_usd == pytest.approx(0.505)


def test_a_batch_has_no_more_tokens_than_a_server_takes(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("ragassay.retrieval.rankers.embedding.BATCH_TOKENS", 12)
    with JsonServer(answer) as server:
        embed(workspace_of(tmp_path, server.address), TEXTS[:6])
        sizes = [sum(map(count_tokens, body["input"])) for _, _, body in server.requests]
    assert len(sizes) < 6 and max(sizes) <= 12 < sum(sizes)


def test_e5_gets_its_prefixes_on_a_server_too(tmp_path: Path):
    model = "openai:intfloat/multilingual-e5-base"
    with JsonServer(lambda number, path, body: embeddings(body)) as server:
        embed(workspace_of(tmp_path, server.address, model), [Text("query", "a"), Text("passage", "b")], model)
    assert sorted(body["input"][0] for _, _, body in server.requests) == ["passage: b", "query: a"]


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
