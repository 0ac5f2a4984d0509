"""What labels leave open, drawn by other code: clusters weighted by hand, strata one by one, quantiles of our own."""

from __future__ import annotations

from math import ceil, inf, sqrt

import numpy as np
import pytest
from scipy.stats import norm, t

from ragassay.evaluate.statistics.power import labels_needed
from ragassay.evaluate.statistics.ppi import Sample, correct_mean

HIGH, N_CLUSTERS, DRAWS = 2.0, 12, 20_000


def made(seed: int, agree: float, ends: bool = False) -> Sample:
    """Three answers in each of twelve sections, graded 0 to 2; people labelled three of four, and agree so often.

    ends: where the judge says 0 people always agree, so that this stratum's labels all lie at an end.
    """
    generator = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(N_CLUSTERS), 3)
    judged = generator.choice([0.0, 1.0, 2.0], len(cluster), p=[0.3, 0.3, 0.4])
    other = generator.choice([0.0, 1.0, 2.0], len(cluster))
    same = (generator.random(len(cluster)) < agree) | (ends & (judged == 0))
    human = np.where(same, judged, other)
    human[::4] = np.nan
    return Sample(cluster, judged, human, np.ones(len(cluster)), 0.0, HIGH)


def drawn(sample: Sample) -> dict[str, np.ndarray]:
    """In every draw: the mean, as it is for either end of an interval, and its two variances."""
    generator = np.random.default_rng(20261120)
    weights = generator.gamma(1.0, size=(DRAWS, N_CLUSTERS))
    strata = [sample.judged == 0, (sample.judged > 0) & (sample.judged < HIGH), sample.judged == HIGH]
    shares = np.array([weights[:, sample.cluster[rows]].sum(axis=1) for rows in strata])
    shares /= shares.sum(axis=0)
    parts = [_stratum(sample, rows, weights, generator) for rows in strata]
    low, high, mean, square = (sum(s * part[k] for s, part in zip(shares, parts, strict=True)) for k in range(4))
    within = sum(s * (part[3] - part[2] ** 2) for s, part in zip(shares, parts, strict=True))
    return {"low": low, "high": high, "within": within, "spread": square - mean**2}


def _stratum(
    sample: Sample, rows: np.ndarray, weights: np.ndarray, generator: np.random.Generator
) -> tuple[np.ndarray, ...]:
    """The mean for either end, the mean, and the mean square; labels count by their effective number of clusters."""
    known = rows & ~np.isnan(sample.human)
    y, cluster = sample.human[known], sample.cluster[known]
    each = np.unique(cluster, return_counts=True)[1]
    by_label = weights[:, cluster] * (each.sum() / (each**2).sum() if len(each) else 0.0)
    sums, labels, squares = by_label.sum(axis=1), by_label @ y, by_label @ y**2
    zero, full = (generator.gamma(0.5, size=DRAWS) for _ in range(2))
    total = sums + zero + full
    mean, square = (labels + HIGH * full) / total, (squares + HIGH**2 * full) / total
    whole = generator.gamma(1.0, size=DRAWS)
    low = labels / (sums + whole) if len(y) and (y == HIGH).all() else mean
    high = (labels + HIGH * whole) / (sums + whole) if len(y) and (y == 0).all() else mean
    return low, high, mean, square


TAIL = norm.cdf(-sqrt(N_CLUSTERS / (N_CLUSTERS - 1)) * t.ppf(0.975, N_CLUSTERS - 1))
"""Hesterberg 2015, section 4.3."""

CASES = [(1, 0.8, False), (2, 0.5, False), (3, 0.9, True)]


@pytest.mark.parametrize(("seed", "agree", "ends"), CASES)
def test_the_ends_of_a_corrected_mean(seed: int, agree: float, ends: bool) -> None:
    sample = made(seed, agree, ends)
    found, own = correct_mean(sample, 7, replicates=DRAWS), drawn(sample)
    assert found.low == pytest.approx(min(np.quantile(own["low"], TAIL), found.value), abs=0.02)
    assert found.high == pytest.approx(max(np.quantile(own["high"], 1 - TAIL), found.value), abs=0.02)


@pytest.mark.parametrize(("seed", "agree", "ends"), CASES)
def test_the_labels_needed(seed: int, agree: float, ends: bool) -> None:
    """within / (room - what the unlabelled leave), and the interval that holds equal tails and the shortest."""
    sample = made(seed, agree, ends)
    own, n = drawn(sample), len(sample.judged)
    room = (0.4 / norm.ppf(0.975)) ** 2 - np.maximum(own["spread"] - own["within"], 0) / n
    enough = (room > 0) & (own["within"] <= n * room)
    numbers = np.sort(np.where(enough, np.maximum(own["within"] / np.where(enough, room, 1.0), 1), inf))
    inside = ceil(0.95 * DRAWS)
    shortest = int(np.argmin(numbers[inside:] - numbers[: DRAWS - inside]))
    tails = np.quantile(numbers, [TAIL, 1 - TAIL])
    found = labels_needed(sample, 0.4, 7, replicates=DRAWS)
    ends = min(numbers[shortest], tails[0]), max(numbers[shortest + inside], tails[1])
    assert (found.low, found.value, found.high) == pytest.approx(
        (ceil(ends[0]), ceil(np.median(numbers)), ceil(ends[1])), abs=1
    )
