"""Tool calls by hand, by properties, and by what Ragas 0.4.3 gave for the same calls."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.measures.tool_calls import call_values, pass_hat, ragas_accuracy
from ragassay.records import ToolCall


def calls(*given: tuple[str, dict]) -> list[ToolCall]:
    return [ToolCall(name=name, arguments=arguments) for name, arguments in given]


ASKED = calls(("find", {"id": 1, "day": "mon"}), ("book", {"id": 1, "seats": 2}))


def test_by_hand():
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
def test_what_holds_of_all(asked, made):
    found, same = call_values(asked, made), call_values(asked, asked)
    assert all(value is None or 0 <= value <= 1 for value in found)
    if asked:
        assert same == (1, 1, 1, 1, 1, 0, 1, 1)
        assert found.order <= found.recall <= found.names and found.recall <= found.arguments <= found.names
    assert (found.writes == 1) == (sorted(map(repr, asked)) == sorted(map(repr, made)))


def test_pass_hat_is_that_of_its_paper():
    """pass^k of Yao et al. 2024: c of n trials succeed; one of two draws without replacement of 3 of 4 is 1/2."""
    assert [pass_hat(3, 4, k) for k in (1, 2, 3, 4)] == [0.75, 0.5, 0.25, 0.0]
