"""The area under the ROC curve with its interval."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .energy_distance import Array

Z = 1.959963984540054


def auc(positive: Array, negative: Array) -> float:
    """How often a positive's score is above a negative's, ties counting half. Both must have scores."""
    return float((np.sign(positive[:, None] - negative[None, :]) + 1).mean() / 2)


def auc_interval(value: float, m: int, n: int, error: float = 0.0) -> tuple[float, float]:
    """The 95% interval of an area found on m and n (at least 1) scores.

    Newcombe's (2006, "Confidence intervals for an effect size measure based on the Mann-Whitney statistic, part 2",
    Statistics in Medicine 25, method 5): all areas within 1.96 of their own standard error, by Hanley and McNeil's
    formula, of the one found. Unlike DeLong's it has a width where all pairs are in order. Where the standard error is
    known to be larger, `error`, all of these errors are taken to be larger by as many times.
    """
    wider = Z * max(1.0, error / max(_error(min(max(value, 0.01), 0.99), m, n), 1e-9))
    low = _edge(lambda area: value - area - wider * _error(area, m, n), 0.0, value)
    high = _edge(lambda area: value - area + wider * _error(area, m, n), value, 1.0)
    return low, high


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
