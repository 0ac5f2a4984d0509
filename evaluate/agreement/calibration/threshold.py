"""A threshold chosen from people's labels: where to cut a judge's numbers into yes and no, and on which labels.

A threshold looks better on the labels it was chosen from than it is. So labels are divided in two halves, by whole
clusters and without a look at what they say: on one it is chosen, on the other it is told what it is worth.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from ragassay.arrays import Floats, Truths

from ..crosstab import crosstab
from ..estimates import Statistic
from ..kappa import kappa
from .balanced_accuracy import balanced_accuracy

Aim = Literal["kappa", "balanced_accuracy"]
AIMS: Mapping[Aim, Statistic] = {"kappa": kappa, "balanced_accuracy": balanced_accuracy}
"""What a threshold is chosen for. Kappa heeds how common a yes is, balanced accuracy does not."""

_DIGITS = 6
"""Scores that are alike to so many are not told apart."""


def choosing_half(clusters: Sequence[str], seed: int) -> Truths:
    """(rows,): which rows the threshold is chosen on; whole clusters, in random order, each to the smaller half."""
    sizes = Counter(clusters)
    order = sorted(sizes)
    random.Random(f"{seed}:calibrate").shuffle(order)
    chosen: set[str] = set()
    balance = 0
    for name in order:
        if balance <= 0:
            chosen.add(name)
        balance += sizes[name] if name in chosen else -sizes[name]
    return np.array([name in chosen for name in clusters], dtype=bool)


def reaches(scores: Floats, threshold: float) -> Truths:
    """Which scores are a yes: those of at least `threshold`, to nine digits, as the judges themselves read it."""
    return np.asarray(np.round(scores - threshold, 9) >= 0)


def cuts(scores: Floats, whole: bool) -> list[float]:
    """The thresholds that tell some of `scores` from others, rising.

    whole: scores are labels, and a threshold is the lowest label that counts. Else one between each two neighbours,
    with as few digits as lie between them.
    """
    values: list[float] = np.unique(np.round(scores, _DIGITS)).tolist()
    return values[1:] if whole else [_between(low, high) for low, high in pairwise(values)]


def _between(low: float, high: float) -> float:
    rounds = (round((low + high) / 2, digits) for digits in range(1, _DIGITS + 2))
    return next(value for value in rounds if low < value < high)


def best_threshold(people: Truths, scores: Floats, now: Truths, whole: bool, aim: Aim) -> float | None:
    """The cut on which judge and people agree most, all (rows,); None where none does better than `now`.

    Of several that do equally well the middle one. people, now: yes or no, by people and by the judge as it is.
    """
    known = cuts(scores, whole)
    rounded = np.round(scores, _DIGITS)
    said_yes = [_at_least(rounded[side], known) for side in (~people, people)]
    now_yes = [float((now & side).sum()) for side in (~people, people)]
    false_yes, true_yes = (np.append(first, rest) for first, rest in zip(now_yes, said_yes, strict=True))
    n_yes = float(people.sum())
    worth = _worth(np.stack([len(people) - n_yes - false_yes, false_yes, n_yes - true_yes, true_yes], axis=1), aim)
    if not known or worth[1:].max() <= worth[0]:
        return None
    best = [cut for cut, value in zip(known, worth[1:].tolist(), strict=True) if value == worth[1:].max()]
    return best[(len(best) - 1) // 2]


def _at_least(scores: Floats, thresholds: Sequence[float]) -> Floats:
    """(thresholds,): how many scores reach each."""
    below = np.searchsorted(np.sort(scores), np.array(thresholds), side="left")
    return np.asarray(len(scores) - below, dtype=np.float64)


def _worth(cells: Floats, aim: Aim) -> Floats:
    """(thresholds,): what the thresholds are chosen for, undefined as the least.

    cells: (thresholds, 4), how often people's and the judge's said no and no, no and yes, yes and no, yes and yes.
    """
    table = crosstab([0, 0, 1, 1], [0, 1, 0, 1], np.zeros(4, dtype=np.intp), 2)
    found = AIMS[aim](table, cells)
    known: Floats = np.where(np.isnan(found), -np.inf, found)
    return known.round(9)
