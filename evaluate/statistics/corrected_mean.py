"""A mean, or a paired difference of two, corrected by people's labels: PPI++'s value, with an interval that holds.

The value is PPI++'s (`ppi`). The interval comes from `label_posterior`, whose width does not collapse where judge and
people agree on every label; its quantiles are taken further out for few clusters (Hesterberg 2015, section 4.3), and it
always holds the value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from ragassay.arrays import Floats

from .label_posterior import posterior
from .ppi import Sample, correlation, ppi_difference, ppi_mean
from .resamples import expanded_tail

REPLICATES = 2000
FEWEST_CLUSTERS = 5
"""With labels on fewer queries (or sections) than this, no spread between them can be told."""
FEWEST_BEYOND = 10
"""Draws behind 0 that tell how many there are."""


@dataclass(frozen=True)
class Corrected:
    """`helps`: whether judge and people go together enough, with so many labels, for the judge to narrow anything.

    None where that cannot be told: labels (or judgments) that do not vary. p: two-sided, that a difference is 0; None
    of a mean.
    """

    value: float
    low: float
    high: float
    lambdas: tuple[float, ...]
    n_labels: int
    helps: bool | None
    p: float | None = None


def correct_mean(sample: Sample, seed: int, replicates: int = REPLICATES, confidence: float = 0.95) -> Corrected:
    """The mean over all items of what people would say. Raises ValueError where no item has a label."""
    found = ppi_mean(sample)
    drawn = posterior((sample,), replicates, seed)[0]
    value = float(np.clip(found.value, sample.low, sample.high))
    low, high = _interval(value, (drawn.for_low, drawn.for_high), (sample,), confidence)
    return Corrected(value, low, high, found.lambdas, found.n_labels, helps((sample,)))


def correct_difference(
    a: Sample, b: Sample, seed: int, replicates: int = REPLICATES, confidence: float = 0.95
) -> Corrected:
    """The mean of `a` less that of `b`, the judge's errors on each estimated apart. Raises ValueError as above."""
    found = ppi_difference(a, b)
    first, second = posterior((a, b), replicates, seed)
    value = float(np.clip(found.value, a.low - b.high, a.high - b.low))
    draws = (first.for_low - second.for_high, first.for_high - second.for_low)
    low, high = _interval(value, draws, (a, b), confidence)
    p = _p(draws[0] if value > 0 else -draws[1], _clusters((a, b))) if value else 1.0
    return Corrected(value, low, high, found.lambdas, found.n_labels, helps((a, b)), p)


def helps(samples: Sequence[Sample]) -> bool | None:
    """Whether the judge narrows what the labels alone say, for every sample.

    PPI++ beats the labels alone only where the correlation of judge and people is above 1 / sqrt(n - 2), n the labels
    (Mani, Xu, Lipton and Oberst 2025, arXiv:2505.20178; exact for Gaussian data).
    """
    told = [_helps(sample) for sample in samples]
    return None if None in told else all(told)


def _helps(sample: Sample) -> bool | None:
    n, found = sample.n_clusters, correlation(sample)
    if n <= 3:
        return False
    return None if found is None else found > 1 / sqrt(n - 2)


def _interval(
    value: float, draws: tuple[Floats, Floats], samples: Sequence[Sample], confidence: float
) -> tuple[float, float]:
    """`draws`: for the lower end, and for the upper."""
    tail = expanded_tail(_clusters(samples), confidence)
    low, high = np.quantile(draws[0], tail), np.quantile(draws[1], 1 - tail)
    return min(float(low), value), max(float(high), value)


def _clusters(samples: Sequence[Sample]) -> int:
    return max(2, min(sample.n_clusters for sample in samples))


def _p(draws: Floats, clusters: int) -> float:
    """1 less the confidence at which the interval's end comes to 0, for a difference above 0.

    The share of draws at or below 0 is a normal tail, moved in by Hesterberg's expansion and read off Student's t.
    Where fewer than `FEWEST_BEYOND` lie there, the tail goes on from the draw that has so many at or below it: as a
    normal one about the draws' mean.
    """
    from scipy.special import ndtri, stdtr

    beyond = max(int((draws <= 0).sum()), FEWEST_BEYOND)
    reach = -float(ndtri((beyond - 0.5) / len(draws)))
    last, mean = float(np.partition(draws, FEWEST_BEYOND - 1)[FEWEST_BEYOND - 1]), float(draws.mean())
    if last > 0:
        reach *= mean / (mean - last)
    return min(1.0, 2 * float(stdtr(clusters - 1, -reach / sqrt(clusters / (clusters - 1)))))
