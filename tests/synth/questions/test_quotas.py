"""Drawing queries, seeded and spread: as many of each model as asked for, about as many documents as can be."""

from __future__ import annotations

import itertools
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ragassay.records import Query
from ragassay.synth.questions.quotas import sample_queries

# Rackauckas, Câmara and Zavrel 2024, "Evaluating RAG-Fusion with RAGElo", section 3.1: 840 questions made, 200 kept.
PAPER = {"gpt-4-turbo": 100, "claude-3-opus": 50, "claude-3-sonnet": 30, "claude-3-haiku": 20}


def _query(number: int, model: str, doc: str, section: str) -> Query:
    return Query(id=f"q-{number:04}", text="?", metadata={"model": model, "doc": doc, "section": section})


def _paper_pool() -> list[Query]:
    """840 questions of the four models about 21 sections of 7 documents, ten to each model and section."""
    places = [(f"doc{n % 7}", f"s{n}") for n in range(21)]
    rows = itertools.product(PAPER, places, range(10))
    return [_query(number, model, doc, section) for number, (model, (doc, section), _) in enumerate(rows)]


def test_the_papers_quotas() -> None:
    pool = _paper_pool()
    assert len(pool) == 840
    sampled = sample_queries(pool, PAPER, seed=7)
    assert Counter(query.metadata["model"] for query in sampled) == PAPER
    assert len({query.id for query in sampled}) == 200
    assert len({query.metadata["doc"] for query in sampled[:7]}) == 7, "the first are spread over the documents too"
    assert sample_queries(pool, PAPER, seed=8) != sampled
    of_sections = Counter(query.metadata["section"] for query in sampled)
    assert len(of_sections) == 21
    assert max(of_sections.values()) - min(of_sections.values()) <= 1
    for model, quota in PAPER.items():
        own = Counter(query.metadata["section"] for query in sampled if query.metadata["model"] == model)
        assert max(own.values()) <= quota // 21 + 2


def test_a_document_only_one_model_wrote_about_is_asked_about() -> None:
    """Drawn greedily, `big` or `small` may spend itself on the documents that the others could have asked about."""
    pool = [
        *(_query(n, "small", "rare", "r") for n in range(2)),
        *(_query(10 + n, "small", "common", "c") for n in range(9)),
        *(_query(20 + n, "big", "common", "c") for n in range(9)),
        *(_query(30 + n, "big", "other", "o") for n in range(9)),
        *(_query(40 + n, "third", "other", "o") for n in range(9)),
    ]
    for seed, models in itertools.product(range(5), itertools.permutations(["third", "big", "small"])):
        sampled = sample_queries(pool, dict.fromkeys(models, 1), seed)
        assert {query.metadata["doc"] for query in sampled} == {"rare", "common", "other"}


places = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 4), st.integers(0, 2)), max_size=40)
quotas = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 6))


@given(places, quotas, st.randoms(use_true_random=False))
def test_quota_coverage_and_order(rows: list[tuple[str, int, int]], quota: dict[str, int], rng: object) -> None:
    pool = [_query(n, model, f"d{doc}", f"d{doc}-{part}") for n, (model, doc, part) in enumerate(rows)]
    sampled = sample_queries(pool, quota, seed=7)
    have = Counter(query.metadata["model"] for query in pool)
    assert Counter(q.metadata["model"] for q in sampled) == {m: min(n, have[m]) for m, n in quota.items() if have[m]}
    assert len({query.metadata["doc"] for query in sampled}) == _most_documents(pool, quota)
    rng.shuffle(pool)  # type: ignore[attr-defined]
    assert sample_queries(pool, quota, seed=7) == sampled


def _most_documents(pool: list[Query], quota: dict[str, int]) -> int:
    """The most documents the quotas can cover, by Hall's theorem in Ore's form, over all sets of documents."""
    able: dict[str, set[str]] = {}
    for query in pool:
        able.setdefault(query.metadata["doc"], set()).add(query.metadata["model"])
    groups = [group for size in range(len(able) + 1) for group in itertools.combinations(able, size)]
    reach = [sum(quota.get(model, 0) for model in set().union(*(able[doc] for doc in group))) for group in groups]
    return len(able) - max(len(group) - n for group, n in zip(groups, reach, strict=True))
