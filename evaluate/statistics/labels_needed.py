"""How many labels by people a corrected mean needs for an interval of a wished width, told from the labels there are.

The corrected mean's variance with n labels on N items is within / n + (spread - within) / N: `within` is what of the
labels the judge leaves unexplained, `spread` their whole variance, each times N sum(s^2) / sum(s)^2 where items count
by sizes s (Kish, Survey Sampling, 1965). Both are drawn from `label_posterior`, so the answer
is a number with an interval, and labels on which all agree do not make it 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, isfinite
from statistics import NormalDist

import numpy as np

from ragassay.arrays import Floats

from .label_posterior import posterior
from .ppi import Sample
from .resamples import expanded_tail

REPLICATES = 4000


@dataclass(frozen=True)
class LabelsNeeded:
    """`value`, `low` and `high` labels for an interval of +- `half_width`; None: not with these items, however many.

    n_items: how many items there are to be labelled; n_pilot: how many labels this was told from.
    """

    half_width: float
    value: int | None
    low: int | None
    high: int | None
    n_items: int
    n_pilot: int


def labels_needed(
    sample: Sample, half_width: float, seed: int, replicates: int = REPLICATES, confidence: float = 0.95
) -> LabelsNeeded:
    """The labels needed for a mean known to +- `half_width`, in the values' own unit (0 excluded).

    The interval holds both the one with equal tails, and the shortest with `confidence` of the draws: the variance of
    a rate has a maximum, which equal tails never reach. Raises ValueError for a half-width that is not above 0.
    """
    if not half_width > 0:
        raise ValueError("half_width must be above 0")
    drawn = posterior(sample, replicates, seed)
    sizes = sample.sizes
    uneven = len(sizes) * float(sizes @ sizes) / float(sizes.sum()) ** 2
    variances = uneven * drawn.within, uneven * drawn.spread
    needed = np.sort(_needed(*variances, len(sample.judged), half_width, confidence))
    tail = expanded_tail(max(2, sample.n_clusters), confidence)
    ends = (_shortest(needed, confidence), np.quantile(needed, [tail, 1 - tail], method="nearest"))
    low, high = min(float(end[0]) for end in ends), max(float(end[1]) for end in ends)
    return LabelsNeeded(
        half_width, _whole(float(np.median(needed))), _whole(low), _whole(high), len(sample.judged), sample.n_labels
    )


def needed_for(within: float, spread: float, n_items: int, half_width: float, confidence: float = 0.95) -> float:
    """The labels needed where the variances are known; infinite where all the items there are do not suffice."""
    found = _needed(np.array([within]), np.array([spread]), n_items, half_width, confidence)
    return float(found[0])


def _needed(within: Floats, spread: Floats, n_items: int, half_width: float, confidence: float) -> Floats:
    quantile = NormalDist().inv_cdf((1 + confidence) / 2)
    room = (half_width / quantile) ** 2 - np.maximum(spread - within, 0) / n_items
    found: Floats = np.where(room > 0, within / np.where(room > 0, room, 1.0), inf)
    return np.where(found > n_items, inf, np.maximum(found, 1.0))


def _shortest(ordered: Floats, confidence: float) -> tuple[float, float]:
    """The shortest interval over a share `confidence` of sorted draws; the lowest one where ends are infinite."""
    inside = min(len(ordered) - 1, ceil(confidence * len(ordered)))
    low, high = ordered[: len(ordered) - inside], ordered[inside:]
    widths = np.where(np.isfinite(high), high - np.where(np.isfinite(low), low, 0.0), inf)
    best = int(np.argmin(widths)) if np.isfinite(widths).any() else round((len(widths) - 1) / 2)
    return float(low[best]), float(high[best])


def _whole(number: float) -> int | None:
    return ceil(number - 1e-9) if isfinite(number) else None
