"""Evidence measures: hand-made cases by sets of character positions, re-chunking, and what is missing."""

from __future__ import annotations

from itertools import pairwise
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.measures.by_place import NOTHING, EvidenceValues, query_values, section_recall, sources
from ragassay.evidence import Span, merged
from ragassay.records import Passage, Query, Section


def positions(spans):
    """The characters of spans, as a plain set."""
    return {(doc, at) for doc, start, end in spans for at in range(start, end)}


def by_sets(pieces, passages):
    """The five measures from their definitions, by sets alone."""
    evidence, retrieved, gains, whole = positions(pieces), positions(passages), [], []
    for rank, passage in enumerate(passages, 1):
        before = positions(passages[: rank - 1])
        gains.append(len((positions([passage]) & evidence) - before) / len(evidence) / log2(rank + 1))
        whole.append(any(positions([piece]) <= positions([passage]) for piece in pieces))
    both = len(evidence & retrieved)
    rr = 1 / (whole.index(True) + 1) if True in whole else 0
    return both / len(evidence), both / len(retrieved), both / len(evidence | retrieved), sum(gains), rr


A, B = Span("a", 10, 20), Span("b", 0, 5)
CASES = {
    "found whole at once": ([A], [Span("a", 0, 30)], (1, 1 / 3, 1 / 3, 1, 1)),
    "exactly": ([A], [A], (1, 1, 1, 1, 1)),
    "nothing of it": ([A], [Span("a", 20, 30), Span("b", 10, 20)], (0, 0, 0, 0, 0)),
    "half, then the other half": (
        [A],
        [Span("a", 5, 15), Span("a", 15, 25)],
        (1, 0.5, 0.5, 0.5 + 0.5 / log2(3), 0),
    ),
    "the same twice gains once": ([A], [A, A], (1, 1, 1, 1, 1)),
    "overlap costs rank, not precision": (
        [A],
        [Span("a", 0, 16), Span("a", 14, 20)],
        (1, 0.5, 0.5, 0.6 + 0.4 / log2(3), 0),
    ),
    "two pieces in one section": (
        [A, Span("a", 40, 50)],
        [Span("a", 0, 100)],
        (1, 0.2, 0.2, 1, 1),
    ),
    "two documents, one piece whole at rank 2": (
        [A, B],
        [Span("b", 0, 4), Span("a", 0, 20)],
        (14 / 15, 14 / 24, 14 / 25, 4 / 15 + 10 / 15 / log2(3), 0.5),
    ),
    "a hole is torn and filled": (
        [A],
        [Span("a", 13, 16), Span("a", 0, 40)],
        (1, 0.25, 0.25, 0.3 + 0.7 / log2(3), 0.5),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_hand_made_cases_are_as_counted_by_hand_and_by_sets(case):
    pieces, passages, expected = CASES[case]
    values = query_values(merged(pieces), passages)
    assert values == pytest.approx(expected)
    assert values == pytest.approx(by_sets(pieces, passages))


spans = st.builds(
    lambda doc, start, length: Span(doc, start, start + length),
    st.sampled_from("ab"),
    st.integers(0, 40),
    st.integers(1, 25),
)


@given(st.lists(spans, min_size=1, max_size=4), st.lists(spans, min_size=1, max_size=8))
def test_any_case_is_as_by_sets(given_pieces, passages):
    pieces = merged(given_pieces)
    assert positions(pieces) == positions(given_pieces)
    assert query_values(pieces, passages) == pytest.approx(by_sets(pieces, passages))


@given(st.lists(spans, min_size=1, max_size=4), st.lists(spans, min_size=1, max_size=5), st.data())
def test_rechunking_into_the_same_coverage_changes_neither_recall_nor_precision_nor_iou(pieces, passages, data):
    """Each passage is cut anew at places drawn, its parts grow back over one another, and all come in another order."""
    parts = []
    for doc, start, end in passages:
        cuts = sorted({start, end, *data.draw(st.lists(st.integers(start, end), max_size=4))})
        overlap = data.draw(st.integers(0, 5))
        parts += [Span(doc, max(start, a - overlap), b) for a, b in pairwise(cuts)]
    rechunked = data.draw(st.permutations(parts))
    assert positions(rechunked) == positions(passages)
    before, after = query_values(merged(pieces), passages), query_values(merged(pieces), rechunked)
    assert before[:3] == after[:3]


@given(st.lists(spans, min_size=1, max_size=4), st.lists(spans, max_size=8))
def test_every_value_lies_between_0_and_1_and_more_passages_find_no_less(pieces, passages):
    pieces, rows = merged(pieces), [query_values(merged(pieces), passages[:k]) for k in range(len(passages) + 1)]
    assert all(0 <= value <= 1 + 1e-12 for row in rows for value in row)
    for fewer, more in pairwise(rows):
        assert fewer.recall <= more.recall and fewer.ndcg <= more.ndcg and fewer.rr <= more.rr
    assert rows[0] == NOTHING == EvidenceValues(0, 0, 0, 0, 0)


def test_failed_is_no_value_and_neither_is_what_nobody_can_place():
    assert query_values((A,), [A]) == EvidenceValues(1, 1, 1, 1, 1) and query_values((A,), []) == NOTHING
    assert query_values((A,), None) is None and query_values((A,), [A, None]) is None


def test_a_query_without_evidence_is_an_error():
    with pytest.raises(ValueError, match="without evidence"):
        query_values((), [A])


def placed_at(passages):
    return [(passage, -float(n)) for n, passage in enumerate(passages)]


SECTIONS = [Section(id="s", doc="d.pdf", first_page=3, last_page=4, start=100, end=200, text="…")]


def passage(name, **metadata):
    return Passage(id=name, text="…", metadata=metadata)


PLACED = {
    "before": passage("before", doc="d.pdf", start=50, end=100, first_page=2, last_page=3),
    "in": passage("in", doc="d.pdf", start=190, end=260, first_page=4, last_page=5),
    "after": passage("after", doc="d.pdf", start=200, end=260, first_page=4, last_page=5),
    "elsewhere": passage("elsewhere", doc="e.pdf", start=100, end=200, first_page=3, last_page=4),
    "nowhere": passage("nowhere"),
    "paged": passage("paged", doc="d.pdf", first_page=4, last_page=4),
}


@pytest.mark.parametrize(
    ("ranked", "value"),
    [
        (["after", "elsewhere", "in"], 1.0),
        (["after", "elsewhere"], 0.0),
        (["before"], 0.0),
        (["a1", "in"], 1.0),
        (["nowhere", "after"], None),
        (["paged"], 1.0),
        ([], 0.0),
        (None, None),
        (["after", "after", "after", "after", "after", "in"], 0.0),
    ],
)
def test_section_recall(ranked, value):
    found = sources([Query(id="q", text="?", metadata={"section": "s"})], SECTIONS)
    rows = None if ranked is None else placed_at(ranked)
    assert section_recall(found, PLACED, {"q": rows}, 5) == {"q": value}


def test_a_query_without_a_source_is_not_counted():
    queries = [
        Query(id="own", text="?"),
        Query(id="paged", text="?", metadata={"section": "gone", "doc": "d.pdf", "first_page": 5, "last_page": 5}),
    ]
    found = sources(queries, SECTIONS)
    assert section_recall(found, PLACED, {"paged": placed_at(["after"])}, 5) == {"paged": 1.0}


@pytest.mark.parametrize(
    ("ranked", "value"),
    [
        (["in", "elsewhere", "other"], 1.0),
        (["after", "in"], 1 / 3),
        (["in", "elsewhere"], 2 / 3),
        (["after"], 0.0),
        (["in", "elsewhere", "nowhere"], None),
        (["in", "elsewhere", "other", "nowhere"], 1.0),
        (None, None),
    ],
)
def test_section_recall_of_a_question_over_several_sections(ranked, value):
    """By hand: the share of its three sections, in two documents, that a passage of the first five overlaps."""
    more = [
        Section(id="t", doc="e.pdf", first_page=3, last_page=3, start=50, end=101, text="…"),
        Section(id="u", doc="e.pdf", first_page=9, last_page=9, start=900, end=950, text="…"),
    ]
    placed = PLACED | {"other": passage("other", doc="e.pdf", start=940, end=990, first_page=9, last_page=9)}
    query = Query(id="q", text="?", metadata={"section": "s", "sections": ["s", "t", "u"]})
    rows = None if ranked is None else placed_at(ranked)
    found = section_recall(sources([query], [*SECTIONS, *more]), placed, {"q": rows}, 5)
    assert found == {"q": value if value is None else pytest.approx(value)}


def test_a_section_that_is_gone_leaves_no_smaller_denominator():
    query = Query(id="q", text="?", metadata={"section": "s", "sections": ["s", "gone"]})
    for ranked in (["in"], ["after"]):
        assert section_recall(sources([query], SECTIONS), PLACED, {"q": placed_at(ranked)}, 5) == {"q": None}
