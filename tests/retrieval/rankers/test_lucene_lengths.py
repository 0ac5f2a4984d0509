"""Lengths in one byte, as Lucene's index keeps them, and BM25 with them."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.retrieval.rankers.analysis import rounded_lengths
from ragassay.retrieval.rankers.bm25 import Bm25, LuceneBm25


def rounded(*lengths: int) -> list[int]:
    return rounded_lengths(np.array(lengths, np.int64)).tolist()


def test_the_lengths_that_lucene_explains_as_approximate():
    """What `explain` prints as dl: every length to 40, then steps of 2, 4, 8, …"""
    kept = [*range(41), 42, 44, 46, 48, 50, 52, 54, 56, 60, 64, 68, 72, 76, 80, 84, 88, 96, 104, 112, 120, 128]
    kept += [136, 144, 152, 168, 184, 200, 216, 232, 248, 264, 280, 312]
    assert rounded(*kept) == kept
    assert sorted(set(rounded(*range(313)))) == kept
    assert rounded(2**31 - 1)[0] <= 2**31 - 1


@given(st.integers(0, 2**31 - 1))
def test_a_length_is_rounded_down_by_less_than_an_eighth_and_only_once(length: int):
    (kept,) = rounded(length)
    assert kept <= length and length - kept < max(1, length / 8)
    assert rounded(kept) == [kept]


def test_scores_are_bm25s_of_the_rounded_length_over_the_exact_mean():
    """By the formula: a term of one passage of 41 terms (kept as 40) and none of the other's 43 (mean 42)."""
    texts = ["x " + "y " * 40, "z " * 43]
    idf = log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    for engine, length in ((LuceneBm25, 40), (Bm25, 41)):
        ((found,),) = engine(["a", "b"], texts, lambda rows: [row.split() for row in rows], k1=0.9, b=0.4).search(
            ["x"], 5
        )
        assert found[1] == pytest.approx(idf / (1 + 0.9 * (1 - 0.4 + 0.4 * length / 42)), abs=1e-6)
