"""Drawing sections and queries, seeded and spread, and which sections are linked."""

from __future__ import annotations

import itertools
import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ragassay.records import Query, Section
from ragassay.synth.questions.need_writer import Sections
from ragassay.synth.questions.quotas import sample_queries
from ragassay.synth.questions.slots import sample_sections

# Rackauckas, Câmara and Zavrel 2024, "Evaluating RAG-Fusion with RAGElo", section 3.1: 840 questions made, 200 kept.
PAPER = {"gpt-4-turbo": 100, "claude-3-opus": 50, "claude-3-sonnet": 30, "claude-3-haiku": 20}


def _sections(lengths: dict[str, list[int]]) -> list[Section]:
    return [
        Section(id=f"{doc}-{n}", doc=doc, first_page=n + 1, last_page=n + 1, start=0, end=length, text="x" * length)
        for doc, row in lengths.items()
        for n, length in enumerate(row)
    ]


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


def test_shares_are_those_of_sainte_lague() -> None:
    """Seven seats for 53, 24 and 23 thousand votes are 3, 2 and 2; by D'Hondt's divisors they are 5, 1 and 1, or 4, 2
    and 1 where each has one first. The smallest document has one at least."""
    sections = _sections({"a": [100] * 530, "b": [100] * 240, "c": [100] * 230})
    assert Counter(section.doc for section in sample_sections(sections, 7, seed=7)) == {"a": 3, "b": 2, "c": 2}
    sections = _sections({"long": [100] * 60, "half": [100] * 30, "tiny": [5]})
    shares = Counter(section.doc for section in sample_sections(sections, 19, seed=7))
    assert shares == {"long": 12, "half": 6, "tiny": 1}


def test_sections_are_drawn_from_all_parts_of_a_document() -> None:
    drawn = sample_sections(_sections({"a": [10] * 40}), 4, seed=7)
    assert [(section.first_page - 1) // 10 for section in drawn] == [0, 1, 2, 3]


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.lists(st.integers(1, 500), min_size=1, max_size=8), min_size=1),
    st.integers(1, 40),
    st.integers(0, 3),
)
def test_as_many_sections_as_asked_and_every_document(lengths: dict[str, list[int]], n: int, seed: int) -> None:
    sections = _sections(lengths)
    drawn = sample_sections(sections, n, seed)
    assert len(drawn) == min(n, len(sections))
    assert len({section.doc for section in drawn}) == min(n, len(lengths))
    assert drawn == [section for section in sections if section in drawn]


FILLER = "the system uses this setting and that value when they are given in the file for all users "


def section(name: str, text: str, doc: str = "a.pdf") -> Section:
    return Section(id=name, doc=doc, first_page=1, last_page=1, start=0, end=len(text), text=text)


CORPUS = [
    section("a1", FILLER + "The bootloader checks the BOOTRST fuse before it jumps."),
    section("a2", FILLER + "Interrupt vectors move with the IVSEL bit."),
    section("b1", FILLER + "Programmers write the BOOTRST fuse, and the bootloader stays.", "b.pdf"),
    section("b2", FILLER + "Colours of the case: grey, black.", "b.pdf"),
    section("b3", FILLER + "The BOOTRST fuse and the bootloader in short; nothing on grey cases.", "b.pdf"),
    *(section(f"c{n}", FILLER + f"Chapter on subject{n} with word{n}.") for n in range(20)),
]


def test_sections_that_name_the_same_rare_things_are_linked_across_documents():
    corpus = Sections(CORPUS)
    assert {one.id for one in corpus.linked(CORPUS[0])} == {"b1", "b3"}
    assert {one.id for one in corpus.linked(CORPUS[2])} == {"a1", "b3"}
    assert corpus.linked(CORPUS[1]) == () == corpus.linked(CORPUS[7])
    copied = Sections([CORPUS[0], section("copy", CORPUS[0].text), *CORPUS[5:]])
    assert copied.linked(CORPUS[0]) == (), "a copy is no link"
    assert Sections([CORPUS[1], CORPUS[3]]).linked(CORPUS[1]) == ()


def test_the_nearest_are_those_of_rank_bm25():
    from rank_bm25 import BM25Okapi

    words = [f"{first}{second}word" for first in "abcdef" for second in "xyz"]
    chance = random.Random(7)
    texts = [" ".join(chance.choices(words, range(1, 19), k=chance.randint(3, 40))) for _ in range(30)]
    made = [CORPUS[0].model_copy(update={"id": f"s{n}", "text": text}) for n, text in enumerate(texts)]
    corpus, peer = Sections(made), BM25Okapi([text.split() for text in texts])
    assert corpus.nearest("zebra?", 3, without=made[0]) == ()
    for _ in range(50):
        asked = chance.choices(words, k=4)
        scores = peer.get_scores(asked).tolist()
        held = [n for n, text in enumerate(texts) if n and set(asked) & set(text.split())]
        best = sorted(held, key=lambda n: (-scores[n], n))[:5]
        assert [one.id for one in corpus.nearest(" ".join(asked), 5, without=made[0])] == [f"s{n}" for n in best]
