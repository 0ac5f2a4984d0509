"""The twenty-six retrievers: what is fused is fused as its paper says."""

from __future__ import annotations

import pytest
from support import digest_encoder

from benchmarks.question_worth.retrievers import rank
from ragassay.records import Passage
from ragassay.retrieval.rankers.analysis import make_analyzer
from ragassay.retrieval.rankers.bm25 import Bm25
from ragassay.retrieval.rankers.combined import Hybrid
from ragassay.retrieval.rankers.embedding import Embedder
from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache
from ragassay.retrieval.rankers.knn import Knn
from ragassay.retrieval.rankers.ranker import indexed_text

WORDS = ("otter", "heron", "vole", "newt", "stoat", "lynx", "crane", "bream")
PASSAGES = [
    Passage(id=f"p{n}", title=f"The {word}", text=f"It eats {WORDS[n - 1]}. Not {WORDS[n - 3]}. Never {WORDS[n - 4]}.")
    for n, word in enumerate(WORDS)
]
QUERIES = ["otter eats heron", "vole or crane", "bream"]


@pytest.fixture
def embedder() -> Embedder:
    return Embedder("digest", EmbeddingCache("digest", None), load=digest_encoder.load)


def test_there_are_26_and_fusions_are_those_of_their_papers(embedder: Embedder):
    names: list[str] = []
    found = rank(PASSAGES, QUERIES, language="en", embedder=embedder, progress=names.append)
    assert len(set(names)) == len(names) == 26
    ids, texts = [p.id for p in PASSAGES], [indexed_text(p) for p in PASSAGES]
    words, vectors = Bm25(ids, texts, make_analyzer("en")), Knn(ids, texts, embedder)
    hybrid = Hybrid([words, vectors]).search(QUERIES, 10)
    assert [ids_of(found["by rank, all + all"][query]) for query in QUERIES] == [ids_of(row) for row in hybrid]
    for query, one, other in zip(QUERIES, words.search(QUERIES, 99), vectors.search(QUERIES, 99), strict=True):
        scaled = [to_one(dict(one)), to_one(dict(other))]
        scores = {p: 0.3 * scaled[0].get(p, 0.0) + 0.7 * scaled[1].get(p, 0.0) for p in ids}
        assert dict(found["by weight 0.7"][query]) == pytest.approx(scores)


def to_one(scores: dict[str, float]) -> dict[str, float]:
    """The lowest 0 and the highest 1, all 1 where they are the same: "bream" stands once in each that holds it."""
    low, high = min(scores.values()), max(scores.values())
    return {p: (score - low) / (high - low) if high > low else 1.0 for p, score in scores.items()}


def ids_of(ranking: list[tuple[str, float]]) -> list[str]:
    return [passage for passage, _ in ranking]
