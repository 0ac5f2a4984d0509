"""What is embedded, by which prefix, how often, and what is said where it cannot be."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from ragassay.errors import InputError, MissingExtra
from ragassay.retrieval.rankers.embedding import Embedder, load_encoder, model_identity, prompt_for
from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache, Text

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
