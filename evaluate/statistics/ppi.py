"""Prediction-powered inference for a mean: a judge's values on everything, people's labels on a sample of it.

PPI++ (Angelopoulos, Duchi and Zrnic 2023, arXiv:2311.01453, section 2 with Example 1, power tuning in section 6):
theta(lambda) = lambda mean(f) + mean over the sample of (y - lambda f), f the judge's value and y people's label. Here
the first mean is over all items, the labelled ones too, and the sample's mean is weighted by 1 over the probability of
inclusion, so lambda = 0 is the weighted mean of the labels, and labels on everything give their exact mean with any
lambda. (The paper's N counts the unlabelled alone; its lambda is ours times the unlabelled share.) Standard errors sum
the influence of a cluster's items before squaring, so that items of one query, or queries of one section, need not be
independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from ragassay.arrays import Floats, Ints, Truths


@dataclass(frozen=True)
class Sample:
    """One agent's items on one measure, arrays of length N.

    cluster: indices of clusters, the same over samples that are compared. judged: the judge's value. human: people's
    label (their mean where several gave one), NaN where there is none. weight: 1 over the probability with which the
    item was drawn (at least 1); read only where there is a label. low, high: the range of the values.
    """

    cluster: Ints
    judged: Floats
    human: Floats
    weight: Floats
    low: float
    high: float

    @property
    def labelled(self) -> Truths:
        """Which items have a label."""
        known: Truths = ~np.isnan(self.human)
        return known

    @property
    def n_labels(self) -> int:
        """How many items have a label."""
        return int(self.labelled.sum())

    @property
    def n_clusters(self) -> int:
        """How many clusters have a label."""
        return len(np.unique(self.cluster[self.labelled]))


@dataclass(frozen=True)
class Estimate:
    """A PPI++ estimate with its cluster-robust standard error and Student's t interval (None below two clusters)."""

    value: float
    lambdas: tuple[float, ...]
    standard_error: float | None
    ci_low: float | None
    ci_high: float | None
    n_labels: int


def tuned_lambda(sample: Sample) -> float:
    """The lambda of least variance (equation 6's plug-in), within 0 to 1: the weighted slope of labels on judgments.

    The variance of f is taken over the labelled items, so that a judge with whom people agree everywhere has 1.
    """
    known = sample.labelled
    weight, f, y = sample.weight[known], sample.judged[known], sample.human[known]
    if np.abs(y - f).max() < 1e-12:
        return 1.0
    f, y = f - np.average(f, weights=weight), y - np.average(y, weights=weight)
    spread = float(weight @ (f * f))
    return 0.0 if spread < 1e-12 else min(1.0, max(0.0, float(weight @ (f * y)) / spread))


def correlation(sample: Sample) -> float | None:
    """The weighted correlation of labels and judgments; None where either does not vary."""
    known = sample.labelled
    weight, f, y = sample.weight[known], sample.judged[known], sample.human[known]
    f, y = f - np.average(f, weights=weight), y - np.average(y, weights=weight)
    spread = float(weight @ (f * f)) * float(weight @ (y * y))
    return float(weight @ (f * y)) / sqrt(spread) if spread > 1e-20 else None


def ppi_mean(sample: Sample, lam: float | None = None, confidence: float = 0.95) -> Estimate:
    """The mean of what people would say of every item. `lam` fixes lambda (0 to 1), None tunes it.

    Raises ValueError where no item has a label.
    """
    value, influence, used = _mean(sample, lam)
    return _estimate(value, influence, (used,), (sample,), confidence)


def ppi_difference(a: Sample, b: Sample, lams: tuple[float, float] | None = None, confidence: float = 0.95) -> Estimate:
    """The mean of `a` less that of `b`, each with a rectifier and a lambda of its own.

    The judge may so err differently on the two; items of one cluster are paired. Raises ValueError as `ppi_mean`.
    """
    value_a, influence_a, lam_a = _mean(a, lams[0] if lams else None)
    value_b, influence_b, lam_b = _mean(b, lams[1] if lams else None)
    size = max(len(influence_a), len(influence_b))
    influence = np.pad(influence_a, (0, size - len(influence_a))) - np.pad(influence_b, (0, size - len(influence_b)))
    return _estimate(value_a - value_b, influence, (lam_a, lam_b), (a, b), confidence)


def _mean(sample: Sample, lam: float | None) -> tuple[float, Floats, float]:
    """theta(lambda), the influence of each cluster on it, and lambda."""
    known = sample.labelled
    if not known.any():
        raise ValueError("no item has a label")
    lam = tuned_lambda(sample) if lam is None else lam
    weight = sample.weight[known] / sample.weight[known].sum()
    residual = sample.human[known] - lam * sample.judged[known]
    rectifier, judged = float(weight @ residual), float(sample.judged.mean())
    influence = lam * (sample.judged - judged) / len(sample.judged)
    influence[known] += weight * (residual - rectifier)
    by_cluster: Floats = np.bincount(sample.cluster, influence).astype(np.float64)
    return lam * judged + rectifier, by_cluster, lam


def _estimate(
    value: float, influence: Floats, lams: tuple[float, ...], samples: tuple[Sample, ...], confidence: float
) -> Estimate:
    from scipy.special import stdtrit

    n, clusters = sum(sample.n_labels for sample in samples), min(sample.n_clusters for sample in samples)
    if clusters < 2:
        return Estimate(value, lams, None, None, None, n)
    error = sqrt(float(influence @ influence) * clusters / (clusters - 1))
    reach = float(stdtrit(clusters - 1, (1 + confidence) / 2)) * error
    return Estimate(value, lams, error, value - reach, value + reach, n)
