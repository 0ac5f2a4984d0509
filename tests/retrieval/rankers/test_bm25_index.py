"""The index made as texts come is bm25s' own, to the last bit, and the best scores are found without sorting all."""

from __future__ import annotations

from collections.abc import Sequence

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.retrieval.rankers import bm25 as bm25_index
from ragassay.retrieval.rankers.bm25 import count_terms, weigh
from ragassay.retrieval.rankers.ranker import at_least_kth


def split(texts: Sequence[str]) -> list[list[str]]:
    return [text.split() for text in texts]


texts = st.lists(st.text("abc ", max_size=12), min_size=1, max_size=40).filter(lambda rows: any(map(str.split, rows)))


@given(texts, st.integers(1, 7), st.floats(0, 3), st.floats(0, 1))
def test_it_is_what_bm25s_makes(rows: list[str], at_a_time: int, k1: float, b: float) -> None:
    vocabulary: dict[str, int] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25_index, "_AT_A_TIME", at_a_time)
        index = weigh(count_terms(iter(rows), split, vocabulary), k1, b)
    theirs = bm25s.BM25(k1=k1, b=b, method="lucene", dtype="float64", backend="numpy")
    theirs.index(([[vocabulary[t] for t in row] for row in split(rows)], vocabulary), False, False)
    for name in ("data", "indices", "indptr"):
        assert np.array_equal(index.scores[name], theirs.scores[name]), name
    assert np.array_equal(index.get_scores_from_ids([0]), theirs.get_scores_from_ids([0]))


@given(texts, st.lists(st.tuples(st.floats(0, 3), st.floats(0, 1)), min_size=2, max_size=4), st.integers(1, 9))
def test_texts_counted_once_serve_every_k1_and_b(
    rows: list[str], parameters: list[tuple[float, float]], at_a_time: int
):
    counted = count_terms(iter(rows), split)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25_index, "_WEIGHED_AT_A_TIME", at_a_time)
        indexes = [weigh(counted, k1, b) for k1, b in parameters]
    for index, (k1, b) in zip(indexes, parameters, strict=True):
        theirs = bm25s.BM25(k1=k1, b=b, method="lucene", dtype="float64", backend="numpy")
        theirs.index(([[counted.vocabulary[t] for t in row] for row in split(rows)], counted.vocabulary), False, False)
        for name in ("data", "indices", "indptr"):
            assert np.array_equal(index.scores[name], theirs.scores[name]), name


def test_passages_without_terms_make_no_index() -> None:
    assert weigh(count_terms(iter(["", " "]), split), 1.2, 0.75) is None
    assert weigh(count_terms(iter([]), split), 1.2, 0.75) is None


@given(st.integers(0, 2**32 - 1), st.integers(1, 3000), st.integers(1, 3000), st.sampled_from([0.0, 0.01, 0.3]))
def test_all_that_reach_the_kth_best_are_found(seed: int, n: int, k: int, margin: float) -> None:
    scores = np.random.default_rng(seed).random(n).round(2)
    kth = np.sort(scores)[::-1][min(k, n) - 1]
    expected = np.flatnonzero(scores >= kth - margin) if k < n else np.arange(n)
    assert np.array_equal(at_least_kth(scores, k, margin), expected)
