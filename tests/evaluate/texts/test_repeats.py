"""The longest repetition and the longest loop, held against trying every part of a short text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.texts.overlap import longest_loop, longest_repeat

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
