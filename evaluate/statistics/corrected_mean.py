"""A mean, or a paired difference of two, corrected by people's labels: PPI++'s value, with an interval that holds.

The value is PPI++'s (`ppi`). A mean's interval comes from `label_posterior`, whose width does not collapse where judge
and people agree on every label; its quantiles are taken further out for few clusters (Hesterberg 2015, section 4.3),
and it always holds the value. A difference's is PPI++'s own, Student's t, with the pseudo-residuals of `ppi`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from .label_posterior import posterior
from .ppi import Sample, correlation, ppi_difference, ppi_mean
from .resamples import expanded_tail

REPLICATES = 2000
FEWEST_CLUSTERS = 5
"""With labels on fewer queries (or sections) than this, no spread between them can be told."""


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
    drawn = posterior(sample, replicates, seed)
    value = float(np.clip(found.value, sample.low, sample.high))
    tail = expanded_tail(max(2, sample.n_clusters), confidence)
    low, high = float(np.quantile(drawn.for_low, tail)), float(np.quantile(drawn.for_high, 1 - tail))
    return Corrected(value, min(low, value), max(high, value), found.lambdas, found.n_labels, helps((sample,)))


def correct_difference(a: Sample, b: Sample, confidence: float = 0.95) -> Corrected:
    """The mean of `a` less that of `b`, the judge's errors on each estimated apart.

    Raises ValueError where no item of one has a label, and below two clusters with one.
    """
    found = ppi_difference(a, b, confidence=confidence)
    if found.ci_low is None or found.ci_high is None:
        raise ValueError("labels on fewer than two clusters")
    limits = a.low - b.high, a.high - b.low
    value, low, high = (float(np.clip(end, *limits)) for end in (found.value, found.ci_low, found.ci_high))
    return Corrected(value, low, high, found.lambdas, found.n_labels, helps((a, b)), found.p)


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
