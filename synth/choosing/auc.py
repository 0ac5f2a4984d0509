"""The area under the ROC curve with its interval."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ragassay.records import Figure

from .energy_distance import Array

Z = 1.959963984540054


def auc(positive: Array, negative: Array) -> Figure:
    """How often a positive's score is above a negative's, ties counting half, with its 95% interval; n counts both.

    The interval is Newcombe's (2006, "Confidence intervals for an effect size measure based on the Mann-Whitney
    statistic, part 2", Statistics in Medicine 25, method 5): all areas that are within 1.96 of their own standard error
    of the one found, by Hanley and McNeil's formula. Unlike DeLong's it has a width where all pairs are in order. No
    value without scores of both.
    """
    m, n = len(positive), len(negative)
    if not m or not n:
        return Figure(value=None, n=m + n)
    value = float((np.sign(positive[:, None] - negative[None, :]) + 1).mean() / 2)
    low = _edge(lambda area: value - area - Z * _error(area, m, n), 0.0, value)
    high = _edge(lambda area: value - area + Z * _error(area, m, n), value, 1.0)
    return Figure(value=value, n=m + n, ci_low=low, ci_high=high)


def _error(area: float, m: int, n: int) -> float:
    """The standard error of an area under exponential scores, with the mean of both sizes for either."""
    spread = (1 - area) / (2 - area) + area / (1 + area)
    return math.sqrt(area * (1 - area) * (1 + ((m + n) / 2 - 1) * spread) / (m * n))


def _edge(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that falls through zero between two ends does so."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2
