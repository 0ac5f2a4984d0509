"""The test set as columns: what a slice chooses by, and which queries go together. Made once for each index."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ragassay.arrays import Floats, Ints
from ragassay.evaluate.inputs.clusters import Clusters

from ..index.read import FACETS, Index

THIRDS = ("short", "middle", "long")
"""Of the questions by their words, a third each as far as like lengths allow."""


@dataclass(frozen=True, eq=False)
class TestSet:
    """Columns by place in the test set. clusters: of all queries, in the order of `by_id`, which sorts the ids."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    facets: dict[str, tuple[str, ...]]
    words: Floats
    by_id: Ints
    clusters: Clusters

    __test__ = False

    def limits(self) -> tuple[float, float]:
        """Up to how many words a question is short, and middle."""
        if not len(self.words):
            return (0.0, 0.0)
        low, high = np.quantile(self.words, [1 / 3, 2 / 3], method="lower")
        return (float(low), float(high))


@lru_cache(maxsize=8)
def test_set(index: Index) -> TestSet:
    """The columns of an index."""
    rows = index.rows("SELECT id, text, doc, model, kind, role, words, cluster FROM queries ORDER BY place")
    ids = tuple(row["id"] for row in rows)
    by_id = np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.intp)
    facets = {name: tuple(row[name] or "" for row in rows) for name in FACETS}
    words = np.array([row["words"] for row in rows], dtype=np.float64)
    clusters = Clusters.named([ids[place] for place in by_id], [rows[place]["cluster"] for place in by_id])
    return TestSet(ids, tuple(row["text"] for row in rows), facets, words, by_id, clusters)


test_set.__test__ = False  # type: ignore[attr-defined]
