"""How deep a variant searches before it reorders what it found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ragassay.experiment.variant_settings import RetrieverSettings
from ragassay.records import Passage
from ragassay.retrieval.rankers.ranker import Ranking
from ragassay.retrieval.variants.searching import Pipeline, Searching

PASSAGES = {f"p{number}": Passage(_id=f"p{number}", text="x" * number) for number in range(1, 10)}


class First:
    """Ranks all passages by their numbers, as deep as it is asked."""

    def __init__(self) -> None:
        self.depths: list[int] = []

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        self.depths.append(k)
        return [[(name, 10.0 - at) for at, name in enumerate(PASSAGES)][:k] for _ in queries]


class Longest:
    """Prefers the passages that came last."""

    def rerank(self, asked: Sequence[tuple[str, Sequence[Passage]]]) -> list[list[float | None]]:
        return [[float(len(passage.text)) for passage in row] for _, row in asked]


@pytest.mark.parametrize(
    ("depth", "k", "searched", "found"),
    [(6, 2, 6, ["p6", "p5"]), (3, 5, 5, ["p3", "p2", "p1"]), (9, 9, 9, [f"p{n}" for n in range(9, 0, -1)])],
)
def test_as_many_are_reranked_as_the_depth_says_and_all_that_are_wanted_are_searched(
    depth: int, k: int, searched: int, found: list[str]
) -> None:
    first = First()
    settings = RetrieverSettings.model_validate({"name": "v", "kind": "bm25", "depth": depth, "rerank": "rerank:m"})
    searching = Searching(first, lambda queries: np.zeros(len(queries)))
    (row,) = Pipeline(settings, searching, PASSAGES, reranker=Longest()).search(["q"], k)  # type: ignore[arg-type]
    assert first.depths == [searched]
    assert [name for name, _ in row] == found


def test_without_anything_to_reorder_no_more_is_searched_than_wanted() -> None:
    first = First()
    settings = RetrieverSettings.model_validate({"name": "v", "kind": "bm25"})
    Pipeline(settings, Searching(first, lambda queries: np.zeros(len(queries))), PASSAGES).search(["q"], 2)
    assert first.depths == [2]
