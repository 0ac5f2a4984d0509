"""Steps by the example of the issue that asked for them, and what holds of all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.measures.by_step import steps_of
from ragassay.evidence import Span

A, B = Span("a", 0, 1), Span("b", 0, 1)


def found(names: str):
    return [(name, Span(name, 0, 1)) for name in names]


def test_by_hand():
    made = steps_of([A, B], [found("xa"), found("ay"), found("b")], ["How?", "how? ", None], found("ay"))
    assert made.recall == (0.5, 0.5, 1.0)
    assert made.new == (1, 0, 1)
    assert made.wasted == (False, True, False) and made.surplus == (False, False, False)
    assert made.fresh == (1.0, 0.5, 1.0)
    assert made.repeated == (False, True, False)
    assert made.lost == 0.5 and made.complete
    assert [made.recall_at(step) for step in (1, 3, 9)] == [0.5, 1.0, 1.0]


def test_a_step_that_failed_is_empty_and_counts():
    made = steps_of([A], [[], found("a"), found("x")], [None, None, None], None)
    assert made.wasted == (True, False, False) and made.surplus == (False, False, True)
    assert made.fresh == (None, 1.0, 1.0) and made.lost is None


def test_a_passage_finds_the_pieces_that_it_holds_or_lies_in():
    piece = Span("doc", 100, 200)
    within, around, beside = Span("doc", 120, 140), Span("doc", 50, 300), Span("doc", 190, 300)
    for place, recall in ((within, 1.0), (around, 1.0), (beside, 0.0)):
        assert steps_of([piece], [[("p", place)]], [None], None).recall == (recall,)


@pytest.mark.parametrize(("pieces", "steps"), [([], [found("a")]), ([A], [])])
def test_without_evidence_or_a_step_there_is_no_value(pieces, steps):
    with pytest.raises(ValueError, match="where there is evidence"):
        steps_of(pieces, steps, [None] * len(steps), None)


@given(
    st.sets(st.sampled_from("abcdef"), min_size=1),
    st.lists(st.lists(st.sampled_from("abcdefxyz"), max_size=5, unique=True), min_size=1, max_size=6),
)
def test_what_holds_of_all(evidence, steps):
    made = steps_of([Span(name, 0, 1) for name in evidence], [found(one) for one in steps], [None] * len(steps), [])
    everything = {name for one in steps for name in one}
    assert made.recall[-1] == made.lost == len(everything & evidence) / len(evidence)
    assert list(made.recall) == sorted(made.recall)
    assert sum(made.new) == len(everything & evidence)
    for new, wasted, surplus in zip(made.new, made.wasted, made.surplus, strict=True):
        assert (new > 0) + wasted + surplus == 1
