"""Learned sparse retrieval with a real, tiny model, against SPLADE's formula on its own logits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support import tiny_models

from ragassay.errors import InputError
from ragassay.models import encoders as encoder_kinds
from ragassay.retrieval.rankers.encoded import TERM, RowCache, Sparse

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
    ranker = Sparse(IDS, TEXTS, Sparse.source(model, RowCache("tiny", "terms", None)))
    scores = splade(model, QUERIES) @ splade(model, TEXTS).T
    for ranking, row in zip(ranker.search(QUERIES, 10), scores, strict=True):
        assert dict(ranking) == pytest.approx({IDS[i]: s for i, s in enumerate(row) if s > 0}, abs=1e-4)
        assert [score for _, score in ranking] == sorted((score for _, score in ranking), reverse=True)
    assert [row[:2] for row in ranker.search(QUERIES, 10)] == ranker.search(QUERIES, 2)


def test_a_saved_sparse_encoder_is_the_same(model: str, tmp_path: Path) -> None:
    from sentence_transformers import SparseEncoder

    SparseEncoder(model, device="cpu").save(str(tmp_path / "saved"))
    found = [
        Sparse(IDS, TEXTS, Sparse.source(m, RowCache("m", "terms", None))) for m in (model, str(tmp_path / "saved"))
    ]
    assert found[0].search(QUERIES, 5) == found[1].search(QUERIES, 5)


def test_no_text_is_encoded_twice(model: str, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    cache = RowCache("tiny", "terms", tmp_path)
    first = Sparse(IDS, TEXTS, Sparse.source(model, cache, lambda done, of: told.append((done, of)))).search(QUERIES, 5)
    assert told == [(5, 5), (3, 3)]
    again = Sparse(IDS, TEXTS, Sparse.source("no/such-model", RowCache("tiny", "terms", None, [tmp_path])))
    assert again.search(QUERIES, 5) == first


class Weights:
    """An encoder that gives each text the weights that it spells: "3:0.5 7:2"."""

    def encode_query(self, texts, **options):
        import torch

        pairs = [(row, *map(float, part.split(":"))) for row, text in enumerate(texts) for part in text.split()]
        places = torch.tensor([[row for row, _, _ in pairs], [int(term) for _, term, _ in pairs]]).reshape(2, -1)
        return torch.sparse_coo_tensor(places, torch.tensor([w for _, _, w in pairs]), (len(texts), 99))

    encode_document = encode_query


def given(monkeypatch, *texts: str) -> Sparse:
    monkeypatch.setattr("ragassay.retrieval.rankers.encoded.load_sparse_encoder", lambda model: Weights())
    return Sparse([f"p{i}" for i in range(len(texts))], texts, Sparse.source("any", RowCache("any", "terms", None)))


def test_only_what_shares_a_term_is_found_and_ties_are_by_id(monkeypatch) -> None:
    ranker = given(monkeypatch, "1:2", "2:1 3:4", "1:1 2:1", "", "1:2")
    assert ranker.search(["1:0.5", "3:0.25 90:1", "50:1", ""], 3) == [
        [("p0", 1.0), ("p4", 1.0), ("p2", 0.5)],
        [("p1", 1.0)],
        [],
        [],
    ]
    assert given(monkeypatch, "", "").search(["1:1"], 3) == [[]]
    assert given(monkeypatch).search(["1:1"], 3) == [[]]


def test_what_is_no_number_is_refused(monkeypatch) -> None:
    with pytest.raises(InputError, match="gives no usable numbers for '1:nan'"):
        given(monkeypatch, "1:2", "1:nan").search(["1:1"], 3)


def test_models_that_would_get_random_layers_are_refused(tmp_path: Path) -> None:
    single = tiny_models.sentence_model(tmp_path)
    with pytest.raises(InputError, match="is not for sparse"):
        encoder_kinds.load_sparse_encoder(single)
    with pytest.raises(InputError, match="is not for late-interaction"):
        encoder_kinds.load_multi_vector_encoder(single)


def test_terms_are_kept_as_they_are(tmp_path: Path) -> None:
    from ragassay.retrieval.rankers.embedding_cache import Text

    cache = RowCache("m", "terms", tmp_path)
    rows = [np.array([(3, 0.1), (70_000, 2.5)], TERM), np.zeros(0, TERM)]
    keys = [cache.key(Text("passage", text)) for text in ("a", "b")]
    cache.add(keys, rows)
    known = RowCache("m", "terms", None, [tmp_path]).known()
    assert [known[key].tolist() for key in keys] == [row.tolist() for row in rows]
