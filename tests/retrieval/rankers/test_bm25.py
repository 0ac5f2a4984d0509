"""BM25 against the closed form, against rank-bm25 itself, and at the edges."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from rank_bm25 import BM25Okapi

from ragassay.retrieval.rankers.analysis import make_analyzer
from ragassay.retrieval.rankers.bm25 import AnalyzedTexts, Bm25, LuceneBm25, RankBm25

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


@pytest.mark.parametrize("query", QUERIES)
def test_both_engines_agree_on_the_best_passages(passages, query: str) -> None:
    ids, texts = texts_of(passages)
    ours, reference = (engine(ids, texts, ANALYZE).search([query], 3)[0] for engine in (Bm25, RankBm25))
    assert ours[0][0] == reference[0][0]
    assert len({i for i, _ in ours} & {i for i, _ in reference}) >= 2


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
