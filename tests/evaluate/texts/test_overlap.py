"""ROUGE by hand and as Google's own; repetitions held against trying every part of a short text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.texts.overlap import longest_loop, longest_repeat, rouge


def test_rouge_by_hand() -> None:
    # two of three words, one of two pairs, the longest common subsequence "the cat"
    assert rouge("The cat sat.", "the cat ran") == pytest.approx({"rouge1": 2 / 3, "rouge2": 1 / 2, "rougeL": 2 / 3})
    assert rouge("a b c d", "d c b a")["rougeL"] == pytest.approx(1 / 4)
    assert rouge("größe ändern", "Größe ändern")["rouge2"] == 1.0
    assert rouge("yes", "yes") == {"rouge1": 1.0, "rouge2": None, "rougeL": 1.0}
    assert rouge("?", "!") == {"rouge1": None, "rouge2": None, "rougeL": None}


@given(st.text("ab cd_.1", max_size=20), st.text("ab cd_.1", max_size=20))
def test_on_plain_english_rouge_is_google_s_own(one: str, other: str) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    theirs = RougeScorer(["rouge1", "rouge2", "rougeL"]).score(one, other)
    for name, value in rouge(one, other).items():
        assert value is None or value == theirs[name].fmeasure


SHORT = st.text(alphabet="ab\u4e2d\U0001f600", max_size=24)


def _by_hand(text: str) -> str:
    for length in range(len(text) // 2, 0, -1):
        for start in range(len(text) - 2 * length + 1):
            part = text[start : start + length]
            if part in text[start + length :]:
                return part
    return ""


@given(SHORT)
def test_the_longest_repeat_is_the_first_of_the_longest_parts_that_come_again(text: str) -> None:
    part = _by_hand(text)
    assert longest_repeat(text) == (part, text.count(part) if part else 0)


@given(
    st.text(alphabet="abc\u05d0\u0643", min_size=24, max_size=40),
    st.integers(3, 6),
    st.text(alphabet="xyz", max_size=9),
)
def test_what_is_said_in_a_row_is_a_loop_over_all_of_it(unit: str, times: int, around: str) -> None:
    found = longest_loop(f"{around}{unit * times}{around}")
    assert found.times >= times
    assert found.length >= len(unit) * times
