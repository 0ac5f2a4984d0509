"""The labels of the first k passages as rows of numbers, for the measures that they alone decide.

Where every passage among the first k has a label there is nothing to weigh up: a reciprocal rank and an nDCG follow
from the row of labels, for all queries at once. ir_measures gives the same, in a hundred times as long.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, repeat
from typing import Any

import numpy as np

from ragassay.arrays import Floats, Truths
from ragassay.trec import Qrels

from ..statistics.clustered import Values

Rankings = Mapping[str, Sequence[tuple[str, float]] | None]


def ideal_gains(qrels: Qrels, k: int) -> dict[str, float]:
    """Query to the discounted gain of its best possible first k (Jarvelin and Kekalainen, TOIS 20(4), 2002)."""
    names = list(qrels)
    best = [sorted(row.values(), reverse=True)[:k] for row in qrels.values()]
    table = np.array([row + [0] * (k - len(row)) for row in best], dtype=np.float64).reshape(len(names), k)
    return dict(zip(names, _gains(table).tolist(), strict=True))


@dataclass(frozen=True)
class LabelRows:
    """queries: those whose first k passages are all labelled. labels: (queries, k), 0 beyond the last passage.

    ideal: (queries,), of `ideal_gains`.
    """

    queries: Sequence[str]
    labels: Floats
    ideal: Floats
    k: int

    def without(self, queries: Collection[str]) -> LabelRows:
        """Those of other queries."""
        return self.where(np.array([query not in queries for query in self.queries], dtype=bool)) if queries else self

    def where(self, which: Truths) -> LabelRows:
        """Some of them, `which` (queries,)."""
        if which.all():
            return self
        return LabelRows(list(compress(self.queries, which.tolist())), self.labels[which], self.ideal[which], self.k)

    def values(self, measure: Any) -> Values:
        """Query to the value of a measure of ir_measures; empty for one that such rows do not decide."""
        if measure.params.get("cutoff") != self.k:
            return {}
        if measure.NAME == "RR" and set(measure.params) <= {"cutoff", "rel"}:
            relevant = self.labels >= measure["rel"]
            found = np.where(relevant.any(axis=1), 1 / (1 + relevant.argmax(axis=1)), 0.0)
        elif measure.NAME == "nDCG" and set(measure.params) == {"cutoff"}:
            gained = _gains(self.labels)
            found = np.divide(gained, self.ideal, out=np.zeros_like(gained), where=self.ideal > 0)
        else:
            return {}
        return dict(zip(self.queries, found.tolist(), strict=True))


def rows_by_agent(
    queries: Sequence[str], qrels: Qrels, rankings: Mapping[str, Rankings], k: int
) -> dict[str, LabelRows]:
    """`label_rows` of each agent."""
    ideal = ideal_gains(qrels, k)
    return {agent: label_rows(queries, qrels, ranking, k, ideal) for agent, ranking in rankings.items()}


def label_rows(
    queries: Sequence[str], qrels: Qrels, rankings: Rankings, k: int, ideal: Mapping[str, float]
) -> LabelRows:
    """Of those of `queries` that were ranked (absent: nothing was retrieved).

    A ranking with equal scores, which a measure may order in its own way, or with a passage twice is left out.
    """
    names: list[str] = []
    labels: list[int | None] = []
    scores: list[float] = []
    for query in queries:
        ranking = rankings.get(query, ())
        if ranking is None:
            continue
        passages, given = zip(*ranking[:k], strict=True) if ranking else ((), ())
        found = list(map(qrels.get(query, _NONE).get, passages))
        if None in found or len({*passages}) < len(found):
            continue
        names.append(query)
        if beyond := k - len(found):
            found += [0] * beyond
            given += (np.nan,) * beyond
        labels += found
        scores += given
    # In single precision, as trec_eval has them.
    single = np.array(scores, dtype=np.float32).reshape(len(names), k)
    falling = np.logical_and.reduce((single[:, 1:] < single[:, :-1]) | np.isnan(single[:, 1:]), axis=1)
    made = LabelRows(
        names, np.array(labels, dtype=np.float64).reshape(-1, k), np.array(list(map(ideal.get, names, repeat(0.0)))), k
    )
    return made.where(falling)


_NONE: Mapping[str, int] = {}


def _gains(labels: Floats) -> Floats:
    """(queries,): the sum of labels (queries, k) over the log2 of rank + 1; those below 0 gain nothing."""
    found: Floats = np.maximum(labels, 0.0) @ (1 / np.log2(np.arange(2, labels.shape[1] + 2)))
    return found
