"""What a question shares with a text; what of the corpus the questions are about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.validity.questions import Question, Reading
from ragassay.evaluate.validity.wording import Corpus, Overlap, coverage, is_copied, jaccard, overlap
from ragassay.evidence import Span
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


def test_pages_that_only_touch_the_evidence_are_not_covered():
    pages = {("a", n): Span("a", 100 * n, 100 * n + 100) for n in (1, 2, 3)} | {("b", 2): Span("b", 200, 300)}
    corpus = Corpus({}, pages)
    asked = [Question("q", "How?", "c", "x:m", doc="a")]
    reading = Reading(words_of, lambda t: shape_of(t, "de").content, str)
    found = coverage(asked, {"q": [Span("a", 200, 300)]}, corpus, {}, (), reading)
    assert (found.figures["pages"].value, found.figures["pages"].n) == (0.25, 4)
    found = coverage(asked, {"q": [Span("a", 199, 301)]}, corpus, {}, (), reading)
    assert found.figures["pages"].value == 0.75


def test_words_that_one_question_has_alone_make_it_less_of_a_copy():
    """Jaccard 1912: what both have by what either has."""
    one, other = frozenset("abc"), frozenset("bcde")
    assert jaccard(one, other) == jaccard(other, one) == 2 / 5 and jaccard(one, one) == 1.0
    assert jaccard(one, frozenset()) == jaccard(frozenset(), frozenset()) == 0.0
