"""KNN against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.retrieval.rankers import knn
from ragassay.retrieval.rankers.embedding import Embedder
from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache
from ragassay.retrieval.rankers.knn import Knn
from ragassay.retrieval.rankers.ranker import CorpusFile, indexed_texts

pytestmark = pytest.mark.xdist_group("models")


class Given:
    """An encoder whose vector of the text "3" is the third it was given."""

    def __init__(self, vectors: np.ndarray) -> None:
        self.vectors, self.prompts = vectors, {}

    def encode_query(self, inputs, *, prompt, batch_size, show_progress_bar):
        return self.vectors[[int(text) for text in inputs]]

    encode_document = encode_query


def index(vectors: np.ndarray, n: int) -> Knn:
    embedder = Embedder("m", EmbeddingCache("m", None), lambda _: Given(vectors))
    return Knn([f"p{i:03d}" for i in range(n)], [str(i) for i in range(n)], embedder)


def brute_force(vectors: np.ndarray, n: int, query: int, k: int) -> list[tuple[str, float]]:
    """Cosine of the vectors as they are stored, one pair at a time, by NumPy's own float64 functions."""
    unit = vectors.astype(np.float32) / np.linalg.norm(vectors.astype(np.float32), axis=1, keepdims=True)
    stored = unit.astype(np.float16).astype(np.float64)
    q = stored[query]
    cosine = [np.vdot(q, p) / (np.linalg.norm(q) * np.linalg.norm(p)) for p in stored[:n]]
    pairs = [(f"p{i:03d}", round(float(c), 5)) for i, c in enumerate(cosine)]
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:k]


@given(st.integers(0, 2**32 - 1), st.integers(1, 300), st.integers(1, 60), st.booleans())
def test_rankings_are_brute_force(seed: int, n: int, k: int, coarse: bool) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n + 3, 24)).astype(np.float32)
    if coarse:  # few distinct vectors: many exact ties
        vectors = np.sign(vectors[:, :3]) + np.float32(0.1)
    found = index(vectors, n).search([str(n), str(n + 1), str(n + 2)], k)
    for number, ranking in enumerate(found):
        expected = brute_force(vectors, n, n + number, k)
        assert [i for i, _ in ranking] == [i for i, _ in expected]
        assert [s for _, s in ranking] == pytest.approx([s for _, s in expected], abs=1.1e-5)


def test_many_queries_are_as_many_single_ones() -> None:
    vectors = np.random.default_rng(1).normal(size=(300, 32)).astype(np.float32)
    made = index(vectors, 150)
    together = made.search([str(i) for i in range(150, 300)], 7)
    assert together == [made.search([str(i)], 7)[0] for i in range(150, 300)]


def test_k_beyond_the_corpus_no_queries_and_no_passages() -> None:
    vectors = np.eye(3, dtype=np.float32)
    assert len(index(vectors, 2).search(["2"], 50)[0]) == 2
    assert index(vectors, 2).search([], 5) == []
    assert index(vectors, 0).search(["2"], 5) == [[]]


def test_minilm_finds_by_meaning_what_shares_no_word(minilm) -> None:
    texts = ["The cat slept on the sofa.", "Quarterly profits rose sharply.", "Water boils at 100 degrees Celsius."]
    embedder = Embedder("all-MiniLM-L6-v2", EmbeddingCache("all-MiniLM-L6-v2", None), lambda _: minilm)
    rankings = Knn(["cat", "money", "water"], texts, embedder).search(
        ["a pet resting on furniture", "company earnings", "temperature at which a liquid turns to steam"], 1
    )
    assert [ranking[0][0] for ranking in rankings] == ["cat", "money", "water"]


@given(st.integers(0, 2**32 - 1), st.integers(2, 400), st.integers(1, 60), st.integers(1, 90), st.integers(1, 90))
def test_candidates_are_all_that_reach_the_kth_best_however_rows_are_cut(
    seed: int, n: int, k: int, first: int, rows: int
) -> None:
    rng, k = np.random.default_rng(seed), min(k, n - 1)
    passages = rng.normal(size=(n, 4)).astype(np.float32)
    if seed % 2:
        passages = np.sign(passages)
    passages /= np.linalg.norm(passages, axis=1, keepdims=True)
    queries = passages[rng.integers(0, n, 3)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knn, "_FIRST_ROWS", first)
        patch.setattr(knn, "_ROWS", rows)
        found = knn.candidates(queries, passages, k)
    for query, kept in zip(queries, found, strict=True):
        products = passages @ query
        kth = np.sort(products)[::-1][k - 1]
        assert kept.tolist() == sorted(set(kept.tolist()))
        assert set(np.flatnonzero(products >= kth)) <= set(kept.tolist())
        assert all(products[kept] >= kth - 2e-3)


def test_a_file_of_passages_is_searched_without_being_held(tmp_path, stub) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(f'{{"_id": "p{n}", "text": "text {n}"}}\n' for n in range(600)))
    lines = CorpusFile(path)
    embedders = [Embedder("m", EmbeddingCache("m", None), lambda _: stub()) for _ in range(2)]
    ids, held = [f"p{n}" for n in range(600)], [f"text {n}" for n in range(600)]
    queries = ["text 7", "text 8"]
    from_file = Knn(ids, indexed_texts(lines, 600), embedders[0]).search(queries, 5)
    assert from_file == Knn(ids, held, embedders[1]).search(queries, 5)
