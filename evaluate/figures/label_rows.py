"""The labels of the first k passages as rows of numbers, for the measures that they alone decide.

Where every passage among the first k has a label there is nothing to weigh up: a reciprocal rank and an nDCG follow
from the row of labels, for all queries at once. ir_measures gives the same, in a hundred times as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragassay.arrays import Floats
from ragassay.trec import Qrels

from ..statistics.clustered import Values

Rankings = Mapping[str, Sequence[tuple[str, float]] | None]
Unsettled = Mapping[str, Sequence[str]]
"""Query to passages without a label that are not among the first k."""


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


def label_rows(
    queries: Iterable[str], qrels: Qrels, rankings: Rankings, k: int, ideal: Mapping[str, float], unsettled: Unsettled
) -> LabelRows:
    """Of those of `queries` that were ranked (absent: nothing was retrieved), with nothing `unsettled` besides.

    A ranking with equal scores, which a measure may order in its own way, or with a passage twice is left out.
    """
    names, rows, scores = [], [], []
    for query in queries:
        ranking, known = rankings.get(query, ()), qrels.get(query, {})
        if ranking is None or unsettled.get(query):
            continue
        shown = dict(ranking[:k])
        labels = list(map(known.get, shown))
        beyond = k - len(shown)
        if None in labels or (beyond and len(ranking) > len(shown)):
            continue
        names.append(query)
        rows.append(labels + [0] * beyond)
        scores.append([*shown.values()] + [np.nan] * beyond)
    # In single precision, as trec_eval has them.
    given = np.array(scores, dtype=np.float32).reshape(len(names), k)
    falling = np.logical_and.reduce((given[:, 1:] < given[:, :-1]) | np.isnan(given[:, 1:]), axis=1)
    kept = [name for name, falls in zip(names, falling.tolist(), strict=True) if falls]
    labels_kept = np.array(rows, dtype=np.float64).reshape(len(names), k)[falling]
    return LabelRows(kept, labels_kept, np.array([ideal.get(name, 0.0) for name in kept]), k)


def _gains(labels: Floats) -> Floats:
    """(queries,): the sum of labels (queries, k) over the log2 of rank + 1; those below 0 gain nothing."""
    found: Floats = np.maximum(labels, 0.0) @ (1 / np.log2(np.arange(2, labels.shape[1] + 2)))
    return found
