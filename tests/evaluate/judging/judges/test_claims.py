"""Quotations are found in a passage whatever became of their white space and case, and only there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.judging.judges.claims import passage_with, quotations
from ragassay.records import Passage

PASSAGES = [
    Passage(id="p1", title="util/delay.h", text="A busy wait keeps the processor occupied."),
    Passage(id="p2", title="", text="Interrupts are enabled by sei()."),
]
WORDS = PASSAGES[0].text.split()


@given(
    st.integers(0, len(WORDS) - 1),
    st.integers(1, len(WORDS)),
    st.sampled_from([" ", "\n", "  \t", "\u00a0"]),
    st.sampled_from([str.upper, str.lower, str.title]),
)
def test_any_stretch_is_found(start, length, space, case):
    assert passage_with(case(space.join(WORDS[start : start + length])), PASSAGES) == "p1"


@given(st.permutations(WORDS).filter(lambda words: words != WORDS))
def test_the_same_words_in_another_order_are_not(words):
    assert passage_with(" ".join(words), PASSAGES) is None


def test_the_title_is_part_of_a_passage():
    assert passage_with("util/delay.h\nA busy wait", PASSAGES) == "p1"
    assert passage_with("occupied. Interrupts", PASSAGES) is None


@pytest.mark.parametrize("said", ["NOTHING FOUND", "Nothing found.", '"NOTHING FOUND"'])
def test_nothing_found_quotes_nothing(said):
    assert quotations([said, "sei()"]) == ["sei()"]
