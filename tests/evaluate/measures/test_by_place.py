"""Evidence measures: hand-made cases by sets of character positions, re-chunking, and what is missing."""

from __future__ import annotations

from itertools import pairwise
from math import log2

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.measures.by_place import (
    NOTHING,
    EvidenceValues,
    Unjudged,
    graded_values,
    query_values,
    section_recall,
    sources,
    unjudged,
)
from ragassay.evidence import Graded, Span, merged
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
        shared = [positions([piece]) & positions([passage]) for piece in pieces]
        halves = [2 * len(one) >= len(positions([passage])) for one in shared]
        whole.append(any(halves) or any(positions([piece]) <= positions([passage]) for piece in pieces))
    both = len(evidence & retrieved)
    rr = 1 / (whole.index(True) + 1) if True in whole else 0
    return both / len(evidence), both / len(retrieved), both / len(evidence | retrieved), sum(gains), rr


A, B = Span("a", 10, 20), Span("b", 0, 5)
CASES = {
    "found whole at once": ([A], [Span("a", 0, 30)], (1, 1 / 3, 1 / 3, 1, 1)),
    "exactly": ([A], [A], (1, 1, 1, 1, 1)),
    "nothing of it": ([A], [Span("a", 20, 30), Span("b", 10, 20)], (0, 0, 0, 0, 0)),
    "half, then the other half": ([A], [Span("a", 5, 15), Span("a", 15, 25)], (1, 0.5, 0.5, 0.5 + 0.5 / log2(3), 1)),
    "less than half, then the rest": (
        [A],
        [Span("a", 2, 14), Span("a", 14, 29)],
        (1, 10 / 27, 10 / 27, 0.4 + 0.6 / log2(3), 0),
    ),
    "all of a passage in a longer piece": (
        [Span("a", 0, 100)],
        [Span("b", 0, 10), Span("a", 40, 50)],
        (0.1, 0.5, 10 / 110, 0.1 / log2(3), 0.5),
    ),
    "pieces that overlap are two": (
        [Span("a", 0, 20), Span("a", 16, 40)],
        [Span("a", 30, 60), Span("a", 0, 20)],
        (0.75, 0.6, 30 / 60, 0.25 + 0.5 / log2(3), 0.5),
    ),
    "the same twice gains once": ([A], [A, A], (1, 1, 1, 1, 1)),
    "two documents, a passage in a piece before one piece whole": (
        [A, B],
        [Span("b", 0, 4), Span("a", 0, 20)],
        (14 / 15, 14 / 24, 14 / 25, 4 / 15 + 10 / 15 / log2(3), 1),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_hand_made_cases_are_as_counted_by_hand_and_by_sets(case):
    pieces, passages, expected = CASES[case]
    values = query_values(pieces, passages)
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
    assert query_values(given_pieces, passages) == pytest.approx(by_sets(given_pieces, passages))


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


def test_failed_is_no_value_neither_is_what_nobody_can_place_and_without_evidence_it_is_an_error():
    assert query_values((A,), None) is None and query_values((A,), [A, None]) is None
    with pytest.raises(ValueError, match="without evidence"):
        query_values((), [A])


@given(st.lists(spans, min_size=1, max_size=4), st.lists(spans, max_size=8), st.sampled_from([1, 2]))
def test_where_nobody_told_grades_apart_every_value_is_as_without_grades(pieces, passages, grade):
    graded = Graded.of([(piece, grade) for piece in pieces])
    plain = query_values(pieces, passages)
    assert graded_values(graded, passages) == (*plain, plain.recall, plain.rr)


graded_pieces = st.lists(st.tuples(spans, st.integers(1, 2)), min_size=1, max_size=4)


@given(graded_pieces, st.lists(spans, max_size=6))
def test_each_character_gains_its_grade(pieces, passages):
    """By sets: its highest grade, by log2 of one more than the first rank that covers it; all at rank 1 is 1."""
    grades: dict = {}
    for piece, grade in pieces:
        grades |= {at: max(grade, grades.get(at, 0)) for at in positions([piece])}
    if 2 not in grades.values():
        grades = dict.fromkeys(grades, 2)
    gain, seen = 0.0, set()
    for rank, passage in enumerate(passages, 1):
        new = positions([passage]) - seen
        gain += sum(grades.get(at, 0) for at in new) / log2(rank + 1)
        seen |= new
    values = graded_values(Graded.of(pieces), passages)
    assert values.ndcg == pytest.approx(gain / sum(grades.values()))
    assert values.recall == pytest.approx(
        sum(grades[at] == 2 for at in grades.keys() & seen) / sum(grade == 2 for grade in grades.values())
    )
    assert values.recall_1 == pytest.approx(len(grades.keys() & seen) / len(grades))
    assert 0 <= values.ndcg <= 1 + 1e-12 and values.rr_1 >= values.rr


@given(st.lists(st.integers(0, 2), min_size=8, max_size=8), st.permutations(range(8)), st.integers(1, 8))
def test_of_whole_passages_dcg_is_that_of_ir_measures(labels, order, k):
    """Eight passages of ten characters. The ideals differ: theirs is the best order, ours all at rank 1."""
    pieces = [(Span("d", 20 * n, 20 * n + 10), label) for n, label in enumerate(labels)]
    graded = Graded.of(pieces)
    if 2 not in labels:
        return
    values = graded_values(graded, [pieces[n][0] for n in order[:k]])
    qrels = {"q": {str(n): label for n, label in enumerate(labels)}}
    run = {"q": {str(n): float(-rank) for rank, n in enumerate(order[:k])}}
    theirs = ir_measures.calc_aggregate([ir_measures.nDCG @ 8, ir_measures.R(rel=2) @ 8, ir_measures.R @ 8], qrels, run)
    best = sum(label / log2(rank + 1) for rank, label in enumerate(sorted(labels, reverse=True), 1))
    assert values.ndcg * sum(labels) == pytest.approx(theirs[ir_measures.nDCG @ 8] * best)
    assert values.recall == pytest.approx(theirs[ir_measures.R(rel=2) @ 8])
    assert values.recall_1 == pytest.approx(theirs[ir_measures.R @ 8])
    rr, rr_1 = (next((1 / rank for rank, n in enumerate(order[:k], 1) if labels[n] >= grade), 0.0) for grade in (2, 1))
    assert (values.rr, values.rr_1) == (pytest.approx(rr), pytest.approx(rr_1))


def test_graded_values_are_none_where_those_without_grades_are():
    graded = Graded.of([(A, 2), (B, 1)])
    assert graded_values(graded, None) is None and graded_values(graded, [A, None]) is None
    assert graded_values(graded, []) == (0,) * 7
    assert unjudged(graded, None, ()) is None and unjudged(graded, [A, None], ()) is None
    assert Graded.of([(A, 0)]) is None


def test_a_passage_is_judged_from_half_of_its_characters():
    graded = Graded.of([(A, 2)])
    half, less = Span("a", 15, 25), Span("a", 16, 26)
    assert unjudged(graded, [half, less, Span("c", 0, 9)], ()).share == pytest.approx(2 / 3)
    assert unjudged(graded, [half, less, Span("c", 0, 9)], (Span("a", 20, 21), Span("c", 0, 5))).share == 0
    assert unjudged(graded, [], ()) == Unjudged(0, 0, 0, 0)


def test_what_nobody_has_judged_bounds_the_values_as_counted_by_hand():
    """Ten characters of grade 2 at rank 2; ranks 1 and 3, ten characters each, are unjudged."""
    found = unjudged(Graded.of([(A, 2)]), [Span("c", 0, 10), A, Span("d", 0, 10)], ())
    value = 1 / log2(3)
    assert found == pytest.approx(Unjudged(2 / 3, (value + 0.5) / 2, (1 + value) / 2, 1.0))
    assert unjudged(Graded.of([(A, 2)]), [Span("c", 0, 10), A], (Span("c", 0, 10),)) == (0, value, value, 1)


@given(graded_pieces, st.lists(spans, min_size=1, max_size=4), st.lists(spans, max_size=3), st.data())
def test_any_grades_of_what_nobody_has_judged_stay_within_the_ends(pieces, passages, judged, data):
    """Each character that nobody has judged, of an unjudged passage, is given a grade of its own, drawn."""
    if all(grade == 1 for _, grade in pieces):
        return
    graded = Graded.of(pieces)
    known = positions([*judged, *graded.at_1])
    left = [one for one in passages if len(positions([one]) & known) < len(positions([one])) / 2]
    free = sorted(positions(left) - known)
    given_grades = data.draw(st.lists(st.integers(0, 2), min_size=len(free), max_size=len(free)))
    more = [(Span(doc, at, at + 1), grade) for (doc, at), grade in zip(free, given_grades, strict=True)]
    ends, then = unjudged(graded, passages, merged(judged)), graded_values(Graded.of([*pieces, *more]), passages)
    assert ends.share == pytest.approx(len(left) / len(passages))
    first = {}
    for one in passages:
        for at in positions([one]):
            first.setdefault(at, one)
    if all(first[at] in left for at in free):
        assert ends.ndcg_low - 1e-9 <= then.ndcg <= ends.ndcg_high + 1e-9
        assert graded_values(graded, passages).recall - 1e-9 <= ends.recall_high
    assert ends.ndcg_low <= graded_values(graded, passages).ndcg <= ends.ndcg_high


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
    paged = {"section": "gone", "doc": "d.pdf", "first_page": 5, "last_page": 5}
    found = sources([Query(id="own", text="?"), Query(id="paged", text="?", metadata=paged)], SECTIONS)
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
