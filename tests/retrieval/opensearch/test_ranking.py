"""OpenSearch ranks as the embedded engine does, on a real server."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from ragassay.errors import InputError
from ragassay.records import Passage
from ragassay.retrieval.rankers.analysis import make_analyzer
from ragassay.retrieval.rankers.bm25 import Bm25
from ragassay.retrieval.rankers.combined import Hybrid
from ragassay.retrieval.rankers.embedding import Embedder
from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache
from ragassay.retrieval.rankers.knn import Knn
from ragassay.retrieval.rankers.ranker import Ranking, indexed_text

QUERIES = ["How is memory freed?", "program space strings", "interrupt handler memory memory", "zyzzyva", " "]


def as_passages(texts: Sequence[str]) -> list[Passage]:
    return [Passage(id=f"p{number}", text=text) for number, text in enumerate(texts)]


def embedded_bm25(passages: Sequence[Passage], language: str = "en") -> Bm25:
    return Bm25([p.id for p in passages], [indexed_text(p) for p in passages], make_analyzer(language))


def exact_knn(passages: Sequence[Passage], encoder: object) -> Knn:
    embedder = Embedder("m", EmbeddingCache("m", None), load=lambda _: encoder)
    return Knn([p.id for p in passages], [indexed_text(p) for p in passages], embedder)


def ids(rankings: Sequence[Ranking]) -> list[list[str]]:
    return [[identifier for identifier, _ in ranking] for ranking in rankings]


def short(passages: Sequence[Passage], n_words: int = 30) -> list[Passage]:
    return [p.model_copy(update={"title": "", "text": " ".join(p.text.split()[:n_words])}) for p in passages]


def test_short_passages_have_the_embedded_scores(bench, passages):
    """Lucene keeps a length of up to 39 terms exactly."""
    some = bench.fresh(short(passages))
    ours, theirs = embedded_bm25(some).search(QUERIES, 50), bench.rankers(some)["bm25"].search(QUERIES, 50)
    assert ids(ours) == ids(theirs) and sum(map(len, theirs)) > 15
    factor = constant_factor(theirs[0], dict(ours[0]))
    for one, other in zip(ours, theirs, strict=True):
        assert [score for _, score in other] == pytest.approx([factor * score for _, score in one], rel=1e-5, abs=5e-6)


def constant_factor(ranking: Ranking, expected: dict[str, float]) -> float:
    """OpenSearch 2 multiplies every score by k1 + 1 = 2.2 (LegacyBM25Similarity), OpenSearch 3 does not."""
    factor = ranking[0][1] / expected[ranking[0][0]]
    return next(known for known in (1.0, 2.2) if factor == pytest.approx(known, rel=1e-4))


def byte_length(length: int) -> int:
    """What is left of a length in one byte: Lucene's SmallFloat.intToByte4 and byte4ToInt (4 significant bits)."""
    free = 24
    if length < free:
        return length
    rest = length - free
    shift = max(rest.bit_length() - 4, 0)
    return free + ((rest >> shift) << shift)


def lucene_scores(query: list[str], rows: dict[str, list[str]]) -> dict[str, float]:
    """BM25 as BM25Similarity computes it (Lucene 9), lengths in a byte, with k1 = 1.2 and b = 0.75."""
    mean = sum(map(len, rows.values())) / len(rows)
    holding = Counter(term for row in rows.values() for term in set(row))
    scores = dict.fromkeys(rows, 0.0)
    for identifier, row in rows.items():
        norm = 1.2 * (0.25 + 0.75 * byte_length(len(row)) / mean)
        for term in query:
            idf = math.log(1 + (len(rows) - holding[term] + 0.5) / (holding[term] + 0.5))
            scores[identifier] += idf * row.count(term) / (row.count(term) + norm)
    return {identifier: score for identifier, score in scores.items() if score > 0}


def test_in_long_passages_only_the_byte_for_the_length_differs(bench, passages):
    assert [byte_length(n) for n in (23, 39, 40, 41, 42, 215, 216)] == [23, 39, 40, 40, 42, 200, 216]
    some, analyze = bench.fresh(passages), make_analyzer("en")
    rows = dict(zip([p.id for p in some], analyze([indexed_text(p) for p in some]), strict=True))
    assert max(map(len, rows.values())) > 60
    found = bench.rankers(some)["bm25"].search(QUERIES, 50)
    factor = constant_factor(found[0], lucene_scores(analyze([QUERIES[0]])[0], rows))
    for query, ranking in zip(QUERIES, found, strict=True):
        expected = {i: factor * score for i, score in lucene_scores(analyze([query])[0], rows).items()}
        assert dict(ranking) == pytest.approx(expected, rel=1e-5, abs=5e-6)


@pytest.mark.parametrize(
    ("language", "texts", "query"),
    [
        ("de", ["Die Häuser am Fluß", "Ein Haus", "Das Schiff fährt", "über die Flüsse"], "Haus am Fluss"),
        ("fr", ["l'avion décolle", "les avions", "qu'il vole", "un train"], "L’avion vole"),
        ("zh", ["我爱北京天安门", "北京的秋天", "上海", "天气 good"], "北京 天"),
        ("tr", ["İstanbul'da IŞIK", "ışık hızı", "kitaplar", "kitap"], "Işıklar kitap"),
    ],
)
def test_every_language_has_the_embedded_terms(bench, language: str, texts: list[str], query: str):
    some = bench.fresh(as_passages(texts))
    theirs = bench.rankers(some, language=language)["bm25"].search([query], 9)
    assert theirs[0] and ids(theirs) == ids(embedded_bm25(some, language).search([query], 9))


def test_ties_come_by_id_also_where_the_cut_falls(bench):
    some = bench.fresh(as_passages(["same words here"] * 30))
    assert ids(bench.rankers(some[::-1])["bm25"].search(["words"], 7)) == [sorted(p.id for p in some)[:7]]


def test_a_term_that_lucene_would_refuse_is_found(bench):
    long = "x" * 40_000
    some = bench.fresh(as_passages([f"a {long} b", f"{long}y", "something else"]))
    assert ids(bench.rankers(some)["bm25"].search([long], 5)) == [["p0"]]


def test_knn_finds_what_exact_search_finds(bench, passages, stub):
    some, encoder = bench.fresh(passages), stub()
    ours = exact_knn(some, encoder).search(QUERIES, 10)
    theirs = bench.rankers(some, encoder, ["knn"])["knn"].search(QUERIES, 10)
    assert ids(ours) == ids(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert [score for _, score in other] == pytest.approx([score for _, score in one], abs=2e-5)


def test_filters_hold_for_every_retriever_and_leave_none_out(bench, passages, stub):
    some = [
        p.model_copy(update={"metadata": {**p.metadata, "part": {"number": n % 4}, "tags": ["all", f"t{n % 2}"]}})
        for n, p in enumerate(bench.fresh(passages))
    ]
    names, few = ["bm25", "knn", "hybrid"], {"part.number": "3", "tags": "t1"}
    rankers = bench.rankers(some, stub(), names, filter=few)
    wanted = {p.id for n, p in enumerate(some) if n % 4 == 3}
    for name in names:
        (found,) = rankers[name].search(["memory program the function of a register and its value"], 40)
        got = {identifier for identifier, _ in found}
        assert got <= wanted and got
        assert name == "bm25" or got == wanted
    assert bench.rankers(some, stub(), ["bm25"], filter={"tags": "no"})["bm25"].search(["memory"], 5) == [[]]


@pytest.mark.parametrize(("hybrid", "shards"), [("ours", 1), ("server", 1), ("server", 3)])
def test_the_hybrid_is_the_embedded_one(bench, passages, stub, hybrid: str, shards: int):
    some, encoder = bench.fresh(short(passages)), stub()
    ours = Hybrid([embedded_bm25(some), exact_knn(some, encoder)], 60).search(QUERIES, 20)
    theirs = bench.rankers(some, encoder, ["hybrid"], hybrid=hybrid, shards=shards)["hybrid"].search(QUERIES, 20)
    for one, other in zip(ours, theirs, strict=True):
        assert [score for _, score in other] == pytest.approx([score for _, score in one], rel=1e-6, abs=2e-8)
    assert ids(ours) == ids(theirs)


def test_more_queries_than_one_request_takes(bench, passages):
    some = bench.fresh(short(passages))
    queries = [" ".join(p.text.split()[3:9]) for p in some] * 4
    assert ids(bench.rankers(some)["bm25"].search(queries, 3)) == ids(embedded_bm25(some).search(queries, 3))


def test_statistics_are_over_all_shards(bench, passages):
    some = bench.fresh(short(passages))
    found = bench.rankers(some, shards=3)["bm25"].search(QUERIES, 50)
    assert ids(found) == ids(embedded_bm25(some).search(QUERIES, 50))


def test_a_depth_beyond_the_server_is_refused(bench, passages):
    with pytest.raises(InputError, match="k is 10001, and OpenSearch gives at most 10000 passages a query"):
        bench.rankers(bench.fresh(passages))["bm25"].search(["memory"], 10_001)


def test_a_model_of_another_dimension_is_refused(bench, passages, stub):
    class Longer(stub):
        def _vector(self, text: str) -> np.ndarray:
            return np.append(super()._vector(text), np.float32(1))

    some = bench.fresh(passages)
    bench.rankers(some, stub(), ["knn"])
    with pytest.raises(InputError, match="has 32 dimensions and the embedding model 33; name the embedding model"):
        bench.rankers(some, Longer(), ["knn"])["knn"].search(["memory"], 5)
