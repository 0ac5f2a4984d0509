"""ROUGE by hand, and on plain English as Google's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.texts.overlap import rouge


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
