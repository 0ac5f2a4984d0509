"""BM25 against the closed form, rank-bm25 and bm25s to the last bit; RM3 against Anserini's steps, in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from ragassay.retrieval.rankers import bm25 as bm25_index
from ragassay.retrieval.rankers.analysis import make_analyzer
from ragassay.retrieval.rankers.bm25 import (
    AnalyzedTexts,
    Bm25,
    FeedbackTerms,
    LuceneBm25,
    RankBm25,
    Rm3,
    count_terms,
    weigh,
)
from ragassay.retrieval.rankers.ranker import at_least_kth

QUERIES = [
    "How do I move the heap to external RAM?",
    "malloc fragmentation freelist",
    "What does the .noinit section do?",
    "pgm_read_byte strings in program space",
    "interrupt vector handler for timer 0 overflow",
]
ANALYZE = make_analyzer("en")


def lucene(texts: list[str], query: str, k1: float = 1.2, b: float = 0.75) -> list[float]:
    """The formula of the docstring, written down once more: one score a text."""
    rows = ANALYZE(texts)
    mean, n = sum(map(len, rows)) / len(rows), len(rows)
    scores = []
    for row in rows:
        counts, score = Counter(row), 0.0
        for term in ANALYZE([query])[0]:
            n_t = sum(term in other for other in rows)
            idf = math.log(1 + (n - n_t + 0.5) / (n_t + 0.5))
            score += idf * counts[term] / (counts[term] + k1 * (1 - b + b * len(row) / mean))
        scores.append(score)
    return scores


def texts_of(passages) -> tuple[list[str], list[str]]:
    return [p.id for p in passages], [p.text for p in passages]


@pytest.mark.parametrize("query", QUERIES)
def test_scores_and_order_are_the_closed_form(passages, query: str) -> None:
    ids, texts = texts_of(passages)
    ranking = Bm25(ids, texts, ANALYZE).search([query], 10)[0]
    scores = dict(zip(ids, lucene(texts, query), strict=True))
    expected = sorted((i for i in ids if scores[i] > 0), key=lambda i: (-round(scores[i], 6), i))[:10]
    assert [i for i, _ in ranking] == expected
    assert dict(ranking) == pytest.approx({i: scores[i] for i in expected}, abs=2e-6)


@pytest.mark.parametrize(("k1", "b"), [(0.1, 0.75), (0.4, 0.4), (2.0, 0.0), (1.2, 1.0)])
def test_k1_and_b_are_those_of_the_closed_form(passages, k1: float, b: float) -> None:
    ids, texts = texts_of(passages)
    scores = dict(zip(ids, lucene(texts, QUERIES[0], k1, b), strict=True))
    ranking = Bm25(ids, texts, ANALYZE, k1=k1, b=b).search([QUERIES[0]], len(ids))[0]
    assert dict(ranking) == pytest.approx({i: score for i, score in scores.items() if score > 0}, abs=2e-6)


@pytest.mark.parametrize("engine", [Bm25, LuceneBm25])
def test_texts_analysed_once_are_ranked_as_by_an_index_of_their_own(engine, passages) -> None:
    ids, texts = texts_of(passages)
    asked: list[int] = []

    def counting(rows):
        asked.append(len(rows))
        return ANALYZE(rows)

    analyzed = AnalyzedTexts(ids, texts, counting)
    rankers = [(engine.of_analyzed(analyzed, k1=k1, b=b), k1, b) for k1 in (0.4, 0.9, 2.0) for b in (0.0, 0.4)]
    assert asked == [len(texts)]
    for ranker, k1, b in rankers:
        assert ranker.search(QUERIES, 40) == engine(ids, texts, ANALYZE, k1=k1, b=b).search(QUERIES, 40)


def test_a_weighted_query_is_the_weighted_sum_over_its_terms(passages) -> None:
    ids, texts = texts_of(passages)
    weights = {"heap": 0.7, "malloc": 0.25, "nowher": 3.0, "extern": 0.05}
    parts = {term: lucene(texts, term) for term in weights if term != "nowher"}
    expected = {ids[i]: sum(weights[t] * parts[t][i] for t in parts) for i in range(len(ids))}
    ranking = Bm25(ids, texts, ANALYZE).search_weighted([weights, {"nowher": 1.0}, {}], len(ids))
    assert dict(ranking[0]) == pytest.approx({i: score for i, score in expected.items() if score > 0}, abs=2e-6)
    assert ranking[1:] == [[], []]


@pytest.mark.parametrize("query", QUERIES)
def test_the_reference_is_rank_bm25_itself(passages, query: str) -> None:
    ids, texts = texts_of(passages)
    scores = BM25Okapi(ANALYZE(texts), k1=1.2, b=0.75).get_scores(ANALYZE([query])[0])
    expected = sorted((i for i in range(len(ids)) if scores[i] > 0), key=lambda i: (-scores[i], ids[i]))[:10]
    ranking = RankBm25(ids, texts, ANALYZE).search([query], 10)[0]
    assert [i for i, _ in ranking] == [ids[i] for i in expected]


@pytest.mark.parametrize("engine", [Bm25, RankBm25])
def test_nothing_is_found_where_no_term_is_known(engine, passages) -> None:
    ids, texts = texts_of(passages)
    assert engine(ids, texts, ANALYZE).search(["", "  ", "the of and", "zyzzyva", "?!"], 5) == [[]] * 5


@pytest.mark.parametrize("engine", [Bm25, RankBm25])
def test_passages_without_words_and_no_passages(engine) -> None:
    assert engine(["a", "b"], ["", "..."], ANALYZE).search(["malloc"], 5) == [[]]
    assert engine([], [], ANALYZE).search(["malloc"], 5) == [[]]
    assert engine(["a"], ["malloc"], ANALYZE).search([], 5) == []


def test_equal_passages_are_in_the_order_of_their_ids_also_at_the_cut() -> None:
    ids = ["d", "b", "e", "a", "c", "x"]
    ranking = Bm25(ids, ["free the heap"] * 5 + ["stack"], ANALYZE).search(["heap"], 3)[0]
    assert [i for i, _ in ranking] == ["a", "b", "c"]
    assert len({score for _, score in ranking}) == 1


def test_k_beyond_what_is_found_gives_what_is_found(passages) -> None:
    ids, texts = texts_of(passages)
    ranking = Bm25(ids, texts, ANALYZE).search(["freelist"], 1000)[0]
    assert {i for i, _ in ranking} == {p.id for p in passages if "freelist" in p.text}


def test_a_repeated_query_term_counts_as_often_as_it_stands_there(passages) -> None:
    index = Bm25(*texts_of(passages), ANALYZE)
    once, twice = index.search(["freelist", "freelist freelist"], 5)
    assert dict(twice) == pytest.approx({i: 2 * score for i, score in once}, abs=2e-6)


def split(texts: Sequence[str]) -> list[list[str]]:
    return [text.split() for text in texts]


texts = st.lists(st.text("abc ", max_size=12), min_size=1, max_size=40).filter(lambda rows: any(map(str.split, rows)))


@given(texts, st.lists(st.tuples(st.floats(0, 3), st.floats(0, 1)), min_size=2, max_size=4), st.integers(1, 9))
def test_texts_counted_once_make_what_bm25s_makes_of_every_k1_and_b(
    rows: list[str], parameters: list[tuple[float, float]], at_a_time: int
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25_index, "_AT_A_TIME", at_a_time)
        patch.setattr(bm25_index, "_WEIGHED_AT_A_TIME", at_a_time)
        counted = count_terms(iter(rows), split)
        indexes = [weigh(counted, k1, b) for k1, b in parameters]
    for index, (k1, b) in zip(indexes, parameters, strict=True):
        theirs = bm25s.BM25(k1=k1, b=b, method="lucene", dtype="float64", backend="numpy")
        theirs.index(([[counted.vocabulary[t] for t in row] for row in split(rows)], counted.vocabulary), False, False)
        for name in ("data", "indices", "indptr"):
            assert np.array_equal(index.scores[name], theirs.scores[name]), name
        assert np.array_equal(index.get_scores_from_ids([0]), theirs.get_scores_from_ids([0]))


@given(st.integers(0, 2**32 - 1), st.integers(1, 3000), st.integers(1, 3000), st.sampled_from([0.0, 0.01, 0.3]))
def test_all_that_reach_the_kth_best_are_found(seed: int, n: int, k: int, margin: float) -> None:
    scores = np.random.default_rng(seed).random(n).round(2)
    kth = np.sort(scores)[::-1][min(k, n) - 1]
    expected = np.flatnonzero(scores >= kth - margin) if k < n else np.arange(n)
    assert np.array_equal(at_least_kth(scores, k, margin), expected)


RM3_QUERIES = [
    "How do I move the heap to external RAM?",
    "pgm_read_byte strings in program space",
    "malloc malloc heap",
]


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
    for query, expanded in zip(RM3_QUERIES, rm3.expanded(RM3_QUERIES), strict=True):
        first = [(ids.index(identifier), score) for identifier, score in bm25.search([query], n_passages)[0]]
        assert expanded == pytest.approx(anserini(texts, first, query, n_terms, weight))
        assert sum(expanded.values()) == pytest.approx(1)
        assert len(expanded) > len(set(ANALYZE([query])[0]))


def test_the_ranking_is_that_of_the_weighted_query(manual) -> None:
    _, _, analyzed = manual
    bm25 = Bm25.of_analyzed(analyzed)
    rm3 = Rm3(bm25, FeedbackTerms(analyzed))
    assert rm3.search(RM3_QUERIES, 40) == bm25.search_weighted(rm3.expanded(RM3_QUERIES), 40)
    assert rm3.search(RM3_QUERIES, 40) != bm25.search(RM3_QUERIES, 40)


def test_with_all_weight_on_the_query_the_order_is_bm25s(manual) -> None:
    _, _, analyzed = manual
    bm25 = Bm25.of_analyzed(analyzed)
    ranked = Rm3(bm25, FeedbackTerms(analyzed), weight=1.0).search(RM3_QUERIES[:1], 5)[0]
    n = len(ANALYZE(RM3_QUERIES[:1])[0])
    assert [i for i, _ in ranked] == [i for i, _ in bm25.search(RM3_QUERIES[:1], 5)[0]]
    assert [s * n for _, s in ranked] == pytest.approx([s for _, s in bm25.search(RM3_QUERIES[:1], 5)[0]], abs=1e-5)


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
