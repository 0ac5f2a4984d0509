"""Precision as it would be in the whole set, where rows were drawn evenly of its labels and not as it has them.

Precision hangs on how many rows there are to find. A draw that is half positive from a set that has a fifth of them
has four times the positives for each negative, and so a precision that the judge would not have on the set.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ragassay.arrays import Floats
from ragassay.records import Figure
from ragassay.text import plain

from ..inputs.clusters import clusters_of_rows
from ..statistics.clustered import effective_queries
from ..statistics.resamples import rounded
from .confusion import spelt
from .label_tables import Label

NAME = "precision_at_set_share"


def precision_at_set_share(
    people: Sequence[Label],
    judge: Sequence[bool | None],
    clusters: Sequence[str],
    relevant: Collection[Label],
    whole: Mapping[Label, int],
    *,
    replicates: int = 1000,
    seed: int = 7,
) -> tuple[Figure, str | None]:
    """The share of relevant rows among those of the whole set to which the judge would say yes, or why there is none.

    people, judge, clusters: (rows,) of the draw, None where the judge failed; whole: how often the set has each label.
    Each label's share of yes in the draw stands for its share in the set, by Bayes' rule with the set's prior. The
    interval draws every share from the Beta distributions whose quantiles are the exact limits of one share (Clopper
    and Pearson, Biometrika 26(4), 1934), the relevant labels' low and the others' high for the lower end, and so errs
    on the wide side. Rows of one cluster count as `effective_queries` says.
    """
    rows = zip(people, judge, clusters, strict=True)
    judged = [(label, float(said), cluster) for label, said, cluster in rows if said is not None]
    n, n_failed = len(judged), len(judge) - len(judged)
    labels = sorted((label for label, count in whole.items() if count), key=spelt)
    if lacking := [label for label in labels if all(label != given for given, _, _ in judged)]:
        why = f"no row that people labelled {plain(spelt(lacking[0]))} was judged, and the set has such"
        return Figure(value=None, n=n, n_failed=n_failed), why
    generator = np.random.default_rng(seed)
    yes, drawn = np.zeros(2), np.zeros((2, 2, replicates))
    for label in labels:
        share, like_n = _share_of_yes([(said, cluster) for given, said, cluster in judged if given == label])
        side = int(label in relevant)
        yes[side] += whole[label] * share
        drawn[:, side] += whole[label] * _ends(share * like_n, (1 - share) * like_n, replicates, generator)
    if not yes.any():
        return Figure(value=None, n=n, n_failed=n_failed), "the judge labelled nothing as relevant"
    value = float(yes[1] / yes.sum())
    lowest, highest = drawn[0, 1] / (drawn[0, 1] + drawn[1, 0]), drawn[1, 1] / (drawn[1, 1] + drawn[0, 0])
    low, high = np.quantile(lowest, 0.025), np.quantile(highest, 0.975)
    return rounded(value, n, n_failed, min(low, value), max(high, value)), None


def _share_of_yes(rows: Sequence[tuple[float, str]]) -> tuple[float, float]:
    """The share, and of how many rows that stand alone it is worth."""
    sizes = clusters_of_rows([cluster for _, cluster in rows]).sizes
    return sum(said for said, _ in rows) / len(rows), effective_queries(sizes)


def _ends(yes: float, no: float, replicates: int, generator: np.random.Generator) -> Floats:
    """(2, replicates): draws whose lower and upper quantiles are Clopper and Pearson's limits of a share."""
    low = generator.beta(yes, no + 1, replicates) if yes else np.zeros(replicates)
    high = generator.beta(yes + 1, no, replicates) if no else np.ones(replicates)
    return np.stack([low, high])
