"""Late interaction with a real, tiny model against sentence-transformers' own MaxSim, and against plain Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import tiny_models

from ragassay.retrieval.rankers import encoded as late_interaction
from ragassay.retrieval.rankers.encoded import LateInteraction, RowCache

TEXTS = [
    "the header util delay h declares delay ms .",
    "a busy wait keeps the processor",
    "interrupts are by sei",
    "",
    "busy",
]
IDS = ["e", "d", "c", "b", "a"]
QUERIES = ["delay ms in the header", "is a busy wait by interrupts . .", "processor"]


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    return tiny_models.multi_vector_model(tmp_path_factory.mktemp("late"))


def test_scores_are_the_librarys_own(model: str) -> None:
    from sentence_transformers import MultiVectorEncoder

    encoder = MultiVectorEncoder(model, device="cpu")
    scores = encoder.similarity(encoder.encode_query(QUERIES), encoder.encode_document(TEXTS)).numpy()
    ranker = LateInteraction(IDS, TEXTS, LateInteraction.source(model, RowCache("tiny", "tokens", None)))
    for ranking, row in zip(ranker.search(QUERIES, 10), scores, strict=True):
        assert dict(ranking) == pytest.approx(dict(zip(IDS, row.tolist(), strict=True)), abs=0.01)  # half precision
    assert [row[:2] for row in ranker.search(QUERIES, 10)] == ranker.search(QUERIES, 2)


def test_no_text_is_encoded_twice(model: str, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    cache = RowCache("tiny", "tokens", tmp_path)
    source = LateInteraction.source(model, cache, lambda done, of: told.append((done, of)))
    first = LateInteraction(IDS, TEXTS, source).search(QUERIES, 5)
    assert told == [(5, 5), (3, 3)]
    again = LateInteraction(IDS, TEXTS, LateInteraction.source("no/such", RowCache("tiny", "tokens", None, [tmp_path])))
    assert again.search(QUERIES, 5) == first


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
        patch.setattr(late_interaction, "load_multi_vector_encoder", lambda model: Vectors())
        patch.setattr(late_interaction, "_QUERY_TOKENS", query_tokens)
        patch.setattr(late_interaction, "_PASSAGE_TOKENS", passage_tokens)
        ranker = LateInteraction(ids, passages, LateInteraction.source("any", RowCache("any", "tokens", None)))
        found = ranker.search(queries, k)
    for query, ranking in zip(queries, found, strict=True):
        every = [(i, round(score(query, p), 4)) for i, p in zip(ids, passages, strict=True) if vectors(p) and query]
        assert ranking == sorted(every, key=lambda pair: (-pair[1], pair[0]))[:k]
