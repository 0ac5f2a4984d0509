"""RM3 against Anserini's steps, written down once more in plain Python, and at its edges."""

from __future__ import annotations

from collections import Counter

import pytest

from ragassay.retrieval.rankers.analysis import make_analyzer
from ragassay.retrieval.rankers.bm25 import AnalyzedTexts, Bm25, FeedbackTerms, Rm3

ANALYZE = make_analyzer("en")
QUERIES = ["How do I move the heap to external RAM?", "pgm_read_byte strings in program space", "malloc malloc heap"]


def scaled(weights: dict[str, float]) -> dict[str, float]:
    return {term: weight / sum(weights.values()) for term, weight in weights.items()}


def pruned(weights: dict[str, float], n: int) -> dict[str, float]:
    return dict(sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))[:n])


def anserini(texts: list[str], first: list[tuple[int, float]], query: str, n: int, weight: float) -> dict[str, float]:
    """io.anserini.rerank.lib.Rm3Reranker: feedback vectors pruned, scaled, weighed by score, pruned, interpolated."""
    rows = ANALYZE(texts)
    df = Counter(term for row in rows for term in set(row))
    model: Counter[str] = Counter()
    for number, score in first:
        vector = {t: c for t, c in Counter(rows[number]).items() if len(t) >= 2 and df[t] / len(rows) <= 0.1}
        for term, share in scaled(pruned(vector, n)).items() if vector else ():
            model[term] += share * score
    own, added = scaled(Counter(ANALYZE([query])[0])), scaled(pruned(model, n))
    return {t: weight * own.get(t, 0) + (1 - weight) * added.get(t, 0) for t in {*own, *added}}


@pytest.fixture
def manual(passages) -> tuple[list[str], list[str], AnalyzedTexts]:
    ids, texts = [p.id for p in passages], [p.text for p in passages]
    return ids, texts, AnalyzedTexts(ids, texts, ANALYZE)


@pytest.mark.parametrize(("n_passages", "n_terms", "weight"), [(10, 10, 0.5), (3, 5, 0.2), (1, 50, 0.8)])
def test_the_expanded_query_is_anserinis(manual, n_passages: int, n_terms: int, weight: float) -> None:
    ids, texts, analyzed = manual
    bm25 = Bm25.of_analyzed(analyzed, k1=0.9, b=0.4)
    rm3 = Rm3(bm25, FeedbackTerms(analyzed), passages=n_passages, terms=n_terms, weight=weight)
    for query, expanded in zip(QUERIES, rm3.expanded(QUERIES), strict=True):
        first = [(ids.index(identifier), score) for identifier, score in bm25.search([query], n_passages)[0]]
        assert expanded == pytest.approx(anserini(texts, first, query, n_terms, weight))
        assert sum(expanded.values()) == pytest.approx(1)
        assert len(expanded) > len(set(ANALYZE([query])[0]))


def test_the_ranking_is_that_of_the_weighted_query(manual) -> None:
    _, _, analyzed = manual
    bm25 = Bm25.of_analyzed(analyzed)
    rm3 = Rm3(bm25, FeedbackTerms(analyzed))
    assert rm3.search(QUERIES, 40) == bm25.search_weighted(rm3.expanded(QUERIES), 40)
    assert rm3.search(QUERIES, 40) != bm25.search(QUERIES, 40)


def test_with_all_weight_on_the_query_the_order_is_bm25s(manual) -> None:
    _, _, analyzed = manual
    bm25 = Bm25.of_analyzed(analyzed)
    ranked = Rm3(bm25, FeedbackTerms(analyzed), weight=1.0).search(QUERIES[:1], 5)[0]
    n = len(ANALYZE(QUERIES[:1])[0])
    assert [i for i, _ in ranked] == [i for i, _ in bm25.search(QUERIES[:1], 5)[0]]
    assert [s * n for _, s in ranked] == pytest.approx([s for _, s in bm25.search(QUERIES[:1], 5)[0]], abs=1e-5)


def test_a_related_passage_without_a_word_of_the_query_is_found() -> None:
    texts = ["cat sat mat", "cat purr whisker", "purr whisker fur", *(f"word{i} other{i}" for i in range(27))]
    analyzed = AnalyzedTexts([f"p{i:02}" for i in range(30)], texts, ANALYZE)
    bm25 = Bm25.of_analyzed(analyzed)
    plain, expanded = bm25.search(["cat"], 5)[0], Rm3(bm25, FeedbackTerms(analyzed)).search(["cat"], 5)[0]
    assert {identifier for identifier, _ in plain} == {"p00", "p01"}
    assert expanded[2][0] == "p02"


def test_a_query_of_which_nothing_is_found_or_nothing_can_be_added_stays() -> None:
    analyzed = AnalyzedTexts(["a", "b"], ["cat mat", "cat dog"], ANALYZE)
    rm3 = Rm3(Bm25.of_analyzed(analyzed), FeedbackTerms(analyzed))
    assert rm3.expanded(["zebra", "cat dog", ""]) == [{"zebra": 1.0}, {"cat": 0.5, "dog": 0.5}, {}]
    assert rm3.search(["zebra", ""], 3) == [[], []]
