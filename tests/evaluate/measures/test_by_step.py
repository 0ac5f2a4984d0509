"""Steps by the example of the issue that asked for them, and what holds of all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.measures.by_step import call_values, pass_hat, ragas_accuracy, steps_of
from ragassay.evidence import Span
from ragassay.records import ToolCall

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


def calls(*given: tuple[str, dict]) -> list[ToolCall]:
    return [ToolCall(name=name, arguments=arguments) for name, arguments in given]


ASKED = calls(("find", {"id": 1, "day": "mon"}), ("book", {"id": 1, "seats": 2}))


def test_calls_by_hand():
    made = calls(("find", {"day": "mon", "id": 1.0}), ("find", {"id": 2}), ("book", {"id": 1, "seats": 3}))
    found = call_values(ASKED, made, ["b*"])
    assert (found.recall, found.precision, found.unwanted) == pytest.approx((1 / 2, 1 / 3, 2 / 3))
    assert found.names == 1.0 and found.arguments == (1 + 1 / 2) / 2 and found.order == 1 / 2
    assert found.writes == 0.0 and found.ragas == 0.0


def test_the_order_is_the_longest_common_subsequence():
    assert call_values(ASKED, ASKED[::-1]).order == 1 / 2
    assert call_values(ASKED, [ASKED[0], *calls(("wait", {})), ASKED[1]]).order == 1.0


def test_a_call_twice_is_a_call_too_many():
    found = call_values(ASKED, [*ASKED, ASKED[1]], ["book"])
    assert found.recall == 1.0 and found.precision == 2 / 3 and found.writes == 0.0


def test_where_there_is_nothing_to_divide_by():
    none_asked, none_made = call_values([], ASKED), call_values(ASKED, [])
    assert (none_asked.recall, none_asked.precision, none_asked.writes) == (None, 0.0, 0.0)
    assert (none_made.recall, none_made.precision, none_made.ragas) == (0.0, None, 0.0)
    assert call_values([], []).writes == call_values([], []).ragas == 1.0


@pytest.mark.parametrize(
    ("made", "value"),
    [
        ([("find", {"id": 1, "day": "mon"}), ("book", {"id": "1", "seats": 2})], 1.0),
        ([("find", {"id": 1}), ("book", {"id": 2, "seats": 2})], 0.5),
        ([("book", {"id": 1, "seats": 2}), ("find", {"id": 1, "day": "mon"})], 0.0),
        ([("find", {"id": 1, "day": "mon"})], 0.0),
        ([("find", {"id": 1, "day": "mon"}), ("book", {"id": 1, "seats": 2}), ("wait", {})], 0.0),
    ],
)
def test_as_ragas(made, value: float):
    """The values are those that ToolCallAccuracy().score of ragas 0.4.3 returned."""
    assert ragas_accuracy(ASKED, calls(*made)) == value


ANY = st.lists(
    st.builds(
        ToolCall,
        name=st.sampled_from(["a", "b"]),
        arguments=st.dictionaries(st.sampled_from("xy"), st.integers(0, 2), max_size=2),
    ),
    max_size=5,
)


@given(ANY, ANY)
def test_what_holds_of_all_calls(asked, made):
    found, same = call_values(asked, made), call_values(asked, asked)
    assert all(value is None or 0 <= value <= 1 for value in found)
    if asked:
        assert same == (1, 1, 1, 1, 1, 0, 1, 1)
        assert found.order <= found.recall <= found.names and found.recall <= found.arguments <= found.names
    assert (found.writes == 1) == (sorted(map(repr, asked)) == sorted(map(repr, made)))


def test_pass_hat_is_that_of_its_paper():
    """pass^k of Yao et al. 2024: c of n trials succeed; one of two draws without replacement of 3 of 4 is 1/2."""
    assert [pass_hat(3, 4, k) for k in (1, 2, 3, 4)] == [0.75, 0.5, 0.25, 0.0]
