"""Sparse retrieval and late interaction with real, tiny models, against the library and plain Python; rows kept."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import tiny_models

from ragassay.errors import InputError
from ragassay.models import encoders as encoder_kinds
from ragassay.retrieval.rankers import encoded as late_interaction
from ragassay.retrieval.rankers.embedding_cache import Text
from ragassay.retrieval.rankers.encoded import LateInteraction, RowCache, Sparse

pytestmark = pytest.mark.xdist_group("models")

TEXTS = [
    "the header util delay h declares delay ms",
    "a busy wait keeps the processor",
    "interrupts are by sei",
    "",
    "busy",
]
IDS = ["e", "d", "c", "b", "a"]
QUERIES = ["delay ms in the header", "is a busy wait by interrupts", "processor"]


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    return tiny_models.masked_language_model(tmp_path_factory.mktemp("sparse"))


def splade(model: str, texts: list[str]) -> np.ndarray:
    """Formal et al. 2021, equation 1 with max pooling: max over tokens of log(1 + relu(logit))."""
    import torch
    import transformers

    tokenizer, bert = (
        transformers.AutoTokenizer.from_pretrained(model),
        transformers.BertForMaskedLM.from_pretrained(model),
    )
    rows = []
    for text in texts:
        with torch.no_grad():
            logits = bert.eval()(**tokenizer(text, return_tensors="pt")).logits[0]
        rows.append(torch.log1p(torch.relu(logits)).max(dim=0).values.double().numpy())
    return np.stack(rows)


def test_scores_are_the_dot_products_of_splades_weights(model: str) -> None:
    ranker = Sparse(IDS, TEXTS, model, RowCache("tiny", "terms", None))
    scores = splade(model, QUERIES) @ splade(model, TEXTS).T
    for ranking, row in zip(ranker.search(QUERIES, 10), scores, strict=True):
        assert dict(ranking) == pytest.approx({IDS[i]: s for i, s in enumerate(row) if s > 0}, abs=1e-4)
        assert [score for _, score in ranking] == sorted((score for _, score in ranking), reverse=True)
    assert [row[:2] for row in ranker.search(QUERIES, 10)] == ranker.search(QUERIES, 2)


def test_a_saved_sparse_encoder_is_the_same(model: str, tmp_path: Path) -> None:
    from sentence_transformers import SparseEncoder

    SparseEncoder(model, device="cpu").save(str(tmp_path / "saved"))
    found = [Sparse(IDS, TEXTS, m, RowCache("m", "terms", None)) for m in (model, str(tmp_path / "saved"))]
    assert found[0].search(QUERIES, 5) == found[1].search(QUERIES, 5)


def test_no_text_is_encoded_twice(model: str, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    cache = RowCache("tiny", "terms", tmp_path)
    first = Sparse(IDS, TEXTS, model, cache, lambda done, of: told.append((done, of))).search(QUERIES, 5)
    assert told == [(5, 5), (3, 3)]
    again = Sparse(IDS, TEXTS, "no/such-model", RowCache("tiny", "terms", None, [tmp_path]))
    assert again.search(QUERIES, 5) == first


class Weights:
    """An encoder that gives each text the weights that it spells: "3:0.5 7:2"."""

    def encode_query(self, texts, **options):
        import torch

        pairs = [(row, *map(float, part.split(":"))) for row, text in enumerate(texts) for part in text.split()]
        places = torch.tensor([[row for row, _, _ in pairs], [int(term) for _, term, _ in pairs]]).reshape(2, -1)
        return torch.sparse_coo_tensor(places, torch.tensor([w for _, _, w in pairs]), (len(texts), 99))

    encode_document = encode_query


def weighing(monkeypatch, *texts: str) -> Sparse:
    monkeypatch.setattr("ragassay.retrieval.rankers.encoded.load_sparse_encoder", lambda model: Weights())
    return Sparse([f"p{i}" for i in range(len(texts))], texts, "any", RowCache("any", "terms", None))


def test_only_what_shares_a_term_is_found_and_ties_are_by_id(monkeypatch) -> None:
    ranker = weighing(monkeypatch, "1:2", "2:1 3:4", "1:1 2:1", "", "1:2")
    assert ranker.search(["1:0.5", "3:0.25 90:1", "50:1", ""], 3) == [
        [("p0", 1.0), ("p4", 1.0), ("p2", 0.5)],
        [("p1", 1.0)],
        [],
        [],
    ]
    assert weighing(monkeypatch, "", "").search(["1:1"], 3) == [[]]
    assert weighing(monkeypatch).search(["1:1"], 3) == [[]]


def test_what_is_no_number_is_refused(monkeypatch) -> None:
    with pytest.raises(InputError, match="gives no usable numbers for '1:nan'"):
        weighing(monkeypatch, "1:2", "1:nan").search(["1:1"], 3)


def test_models_that_would_get_random_layers_are_refused(tmp_path: Path) -> None:
    single = tiny_models.sentence_model(tmp_path)
    with pytest.raises(InputError, match="is not for sparse"):
        encoder_kinds.load_sparse_encoder(single)
    with pytest.raises(InputError, match="is not for late-interaction"):
        encoder_kinds.load_multi_vector_encoder(single)


SENTENCES = [
    "the header util delay h declares delay ms .",
    "a busy wait keeps the processor",
    "interrupts are by sei",
    "",
    "busy",
]
ASKED = ["delay ms in the header", "is a busy wait by interrupts . .", "processor"]


@pytest.fixture(scope="module")
def multi_vector(tmp_path_factory) -> str:
    return tiny_models.multi_vector_model(tmp_path_factory.mktemp("late"))


def test_scores_are_the_librarys_own(multi_vector: str) -> None:
    from sentence_transformers import MultiVectorEncoder

    encoder = MultiVectorEncoder(multi_vector, device="cpu")
    scores = encoder.similarity(encoder.encode_query(ASKED), encoder.encode_document(SENTENCES)).numpy()
    ranker = LateInteraction(IDS, SENTENCES, multi_vector, RowCache("tiny", "tokens", None))
    for ranking, row in zip(ranker.search(ASKED, 10), scores, strict=True):
        assert dict(ranking) == pytest.approx(dict(zip(IDS, row.tolist(), strict=True)), abs=0.01)  # half precision
    assert [row[:2] for row in ranker.search(ASKED, 10)] == ranker.search(ASKED, 2)


def test_no_token_is_encoded_twice(multi_vector: str, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    cache = RowCache("tiny", "tokens", tmp_path)
    ranker = LateInteraction(IDS, SENTENCES, multi_vector, cache, lambda done, of: told.append((done, of)))
    first = ranker.search(ASKED, 5)
    assert told == [(5, 5), (3, 3)]
    again = LateInteraction(IDS, SENTENCES, "no/such", RowCache("tiny", "tokens", None, [tmp_path]))
    assert again.search(ASKED, 5) == first


class Vectors:
    """An encoder that gives each text the vectors that it spells: "1,0 0.5,2"."""

    def encode_query(self, texts, **options):
        rows = [[[float(x) for x in part.split(",")] for part in text.split()] for text in texts]
        return [np.array(row, np.float32).reshape(len(row), 2) for row in rows]

    encode_document = encode_query


def spelled(vectors: list[tuple[int, int]]) -> str:
    return " ".join(f"{x / 4},{y / 4}" for x, y in vectors)


texts = st.lists(st.lists(st.tuples(st.integers(-8, 8), st.integers(-8, 8)), max_size=5).map(spelled), max_size=30)


@given(texts, texts, st.integers(1, 8), st.integers(1, 9), st.integers(1, 9))
def test_it_is_the_formula_whatever_is_compared_at_a_time(passages, queries, k, query_tokens, passage_tokens) -> None:
    def vectors(text: str) -> list[list[float]]:
        return [[float(x) for x in part.split(",")] for part in text.split()]

    def score(query: str, passage: str) -> float:
        return sum(max(a * c + b * d for c, d in vectors(passage)) for a, b in vectors(query))

    ids = [f"p{i:02}" for i in range(len(passages))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(late_interaction, "load_multi_vector_encoder", lambda multi_vector: Vectors())
        patch.setattr(late_interaction, "_QUERY_TOKENS", query_tokens)
        patch.setattr(late_interaction, "_PASSAGE_TOKENS", passage_tokens)
        ranker = LateInteraction(ids, passages, "any", RowCache("any", "tokens", None))
        found = ranker.search(queries, k)
    for query, ranking in zip(queries, found, strict=True):
        every = [(i, round(score(query, p), 4)) for i, p in zip(ids, passages, strict=True) if vectors(p) and query]
        assert ranking == sorted(every, key=lambda pair: (-pair[1], pair[0]))[:k]


ROWS = [np.array([[1, 2], [3, 4]], np.float16), np.zeros((0, 2), np.float16), np.array([[5, 6]], np.float16)]
KEPT = [Text("passage", "a"), Text("query", "a"), Text("passage", "b")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    cache = RowCache("m", "tokens", tmp_path)
    cache.add([cache.key(text) for text in KEPT[:2]], ROWS[:2])
    cache.add([cache.key(KEPT[2])], ROWS[2:])
    return tmp_path


def test_what_was_added_is_there_in_this_run_and_the_next(folder: Path) -> None:
    cache = RowCache("m", "tokens", None, [folder])
    cache.add([cache.key(Text("query", "c"))], [np.array([[7, 8]], np.float16)])
    for text, row in zip([*KEPT, Text("query", "c")], [*ROWS, [[7, 8]]], strict=True):
        assert np.array_equal(cache.known()[cache.key(text)], row)
    assert len(list(folder.glob("*.npz"))) == 2


def test_a_key_depends_on_model_layout_kind_and_text() -> None:
    keys = {
        RowCache(m, layout, None).key(Text(kind, text))
        for m in "mn"
        for layout in ("terms", "tokens")
        for kind in ("query", "passage")
        for text in "ab"
    }
    assert len(keys) == 16
    assert RowCache("m", "terms", None).key(Text("query", "a")).hex() == PINNED


PINNED = "58be66761c9e4e051914310c685679b44663f5244cca2e4b7dcf2b5b44580778"
"""A new key throws away what took hours to encode."""


@pytest.mark.parametrize("what", ["cut off", "pickled", "not finite", "starts beyond", "of vectors"])
def test_a_damaged_file_is_warned_of_and_left_out(folder: Path, what: str, caplog) -> None:
    path = sorted(folder.glob("*.npz"))[0]
    with np.load(path) as archive:
        content = dict(archive)
    if what == "cut off":
        path.write_bytes(path.read_bytes()[:-100])
    elif what == "of vectors":
        np.savez(path, model="m", keys=content["keys"], vectors=np.zeros((len(content["keys"]), 2), np.float16))
    else:
        change = {
            "pickled": {"rows": np.array([object()], object)},
            "not finite": {"rows": np.full_like(content["rows"], np.nan)},
            "starts beyond": {"starts": content["starts"] + 1},
        }
        np.savez(path, **{**content, **change[what]})
    cache = RowCache("m", "tokens", None, [folder])
    with caplog.at_level(logging.WARNING):
        kept = [cache.key(text) in cache.known() for text in KEPT]
    assert sorted(kept) in ([False, False, True], [False, True, True])
    assert [record.getMessage() for record in caplog.records] == [
        f"{path} is damaged or no file of encodings; its texts are encoded again"
    ]


def test_another_models_file_and_one_of_another_length_are_not_used(folder: Path, caplog) -> None:
    other = RowCache("n", "tokens", folder)
    assert other.key(KEPT[0]) not in other.known()
    longer = RowCache("m", "tokens", None)
    longer.add([longer.key(Text("query", "z"))], [np.zeros((1, 3), np.float16)])
    with pytest.raises(ValueError):
        longer.add([longer.key(KEPT[0])], ROWS[:1])
    odd = RowCache("m", "tokens", folder / "odd")
    odd.add([odd.key(Text("query", "z"))], [np.zeros((1, 3), np.float16)])
    both = RowCache("m", "tokens", None, [folder, folder / "odd"])
    assert both.key(Text("query", "z")) not in both.known()
    assert "has vectors of another length" in caplog.text
