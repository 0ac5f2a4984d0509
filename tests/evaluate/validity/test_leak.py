"""What a question shares with a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.validity.leak import Overlap, is_copied, overlap
from ragassay.evaluate.validity.questions import Reading
from ragassay.synth.questions.reject import shape_of, words_of


@given(st.lists(st.sampled_from(["ein", "zwei", "drei", "vier"]), min_size=1, max_size=8), st.data())
def test_a_run_is_the_longest_that_both_have(asked: list[str], data: st.DataObject):
    there = data.draw(st.lists(st.sampled_from(["ein", "zwei", "drei", "vier"]), max_size=12))
    found = overlap(" ".join(asked), " ".join(there), Reading(words_of, lambda t: shape_of(t, "de").content, str))
    runs = [asked[a:b] for a in range(len(asked)) for b in range(a + 1, len(asked) + 1)]
    longest = max((len(r) for r in runs if any(there[at : at + len(r)] == r for at in range(len(there)))), default=0)
    assert found.run == longest and found.run_share == pytest.approx(longest / len(asked))


@pytest.mark.parametrize(
    ("run", "share", "copied"),
    [(6, 0.6, True), (5, 1.0, False), (6, 0.59, False), (40, 0.3, False), (1, 0.1, False), (7, 0.7, True)],
)
def test_copied_is_what_has_many_words_in_a_row_that_are_most_of_the_question(run: int, share: float, copied: bool):
    assert is_copied(Overlap(0.0, run, share)) == copied


def test_two_characters_of_a_script_without_spaces_are_a_word():
    found = overlap(
        "看门狗定时器", "要停止看门狗定时器,请写寄存器", Reading(words_of, lambda t: shape_of(t, "zh").content, str)
    )
    assert (found.run, found.run_share, found.shared) == (3.0, 1.0, 1.0)
