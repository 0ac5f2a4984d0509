"""Prediction-powered inference for a mean: a judge's values on everything, people's labels on a sample of it.

PPI++ (Angelopoulos, Duchi and Zrnic 2023, arXiv:2311.01453, section 2 with Example 1, power tuning in section 6):
theta(lambda) = lambda mean(f) + mean over the sample of (y - lambda f), f the judge's value and y people's label. Here
the first mean is over all items, the labelled ones too, and the sample's mean is weighted by 1 over the probability of
inclusion, so lambda = 0 is the weighted mean of the labels, and labels on everything give their exact mean with any
lambda. (The paper's N counts the unlabelled alone; its lambda is ours times the unlabelled share.) Standard errors sum
the influence of a cluster's items before squaring, so that items of one query, or queries of one section, need not be
independent.

Labels on which people and judge agree have no residuals, and a standard error made of residuals alone is then too small
by far. So a difference has pseudo-residuals, as the plus-four interval has pseudo-labels (Agresti and Caffo, American
Statistician 54(4), 2000): for each agent one of an effective label, half of it at plus the range of the values and half
at minus. They move no value. Only items without a label can have errors that none shows: a label stands for itself with
1 / N and for others with the rest of its weight, and the pseudo-residual has no more than these rests. So of n labels
on N items it adds (1 - n / N)^2 of what it would in endlessly many, and labels on everything give Student's paired t;
but where all differences there are alike, which tell of no spread, it has the whole weight.
`benchmarks/coverage/corrected.py` tells how often the interval then holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from ragassay.arrays import Floats, Ints, Truths

from .clustered import ASSUMED_CORRELATION

PSEUDO_RESIDUALS = 1.0
"""Of each agent in a difference."""


@dataclass(frozen=True)
class Sample:
    """One agent's items on one measure, arrays of length N.

    cluster: indices of clusters, the same over samples that are compared. judged: the judge's value. human: people's
    label (their mean where several gave one), NaN where there is none. weight: 1 over the probability with which the
    item was drawn (at least 1); read only where there is a label. low, high: the range of the values.
    size: how much an item counts in the mean over all; the same for all where None. part: indices of the parts of which
    the mean over all is made, each with a weight that chance does not change: all its items' sizes are equal. One where
    None.
    """

    cluster: Ints
    judged: Floats
    human: Floats
    weight: Floats
    low: float
    high: float
    size: Floats | None = None
    part: Ints | None = None

    @property
    def sizes(self) -> Floats:
        """(N,): how much each item counts."""
        return np.ones(len(self.judged)) if self.size is None else self.size

    @property
    def parts(self) -> Ints:
        """(N,): the part that each item belongs to."""
        return np.zeros(len(self.judged), np.intp) if self.part is None else self.part

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
    """A PPI++ estimate with its cluster-robust standard error, degrees of freedom and Student's t interval.

    Error and interval are None below two clusters; so is the p, two-sided, that the value is 0, also where all is 0.
    """

    value: float
    lambdas: tuple[float, ...]
    standard_error: float | None
    df: int
    ci_low: float | None
    ci_high: float | None
    p: float | None
    n_labels: int


def tuned_lambda(sample: Sample) -> float:
    """The lambda of least variance (equation 6's plug-in), within 0 to 1: the weighted slope of labels on judgments.

    The variance of f is taken over the labelled items, so that a judge with whom people agree everywhere has 1.
    """
    known = sample.labelled
    weight, f, y = _weights(sample), sample.judged[known], sample.human[known]
    if np.abs(y - f).max() < 1e-12:
        return 1.0
    f, y = f - np.average(f, weights=weight), y - np.average(y, weights=weight)
    spread = float(weight @ (f * f))
    return 0.0 if spread < 1e-12 else min(1.0, max(0.0, float(weight @ (f * y)) / spread))


def correlation(sample: Sample) -> float | None:
    """The weighted correlation of labels and judgments; None where either does not vary."""
    known = sample.labelled
    weight, f, y = _weights(sample), sample.judged[known], sample.human[known]
    f, y = f - np.average(f, weights=weight), y - np.average(y, weights=weight)
    spread = float(weight @ (f * f)) * float(weight @ (y * y))
    return float(weight @ (f * y)) / sqrt(spread) if spread > 1e-20 else None


def ppi_mean(sample: Sample, lam: float | None = None, confidence: float = 0.95) -> Estimate:
    """The mean of what people would say of every item. `lam` fixes lambda (0 to 1), None tunes it.

    Raises ValueError where no item has a label.
    """
    value, influence, used = _mean(sample, lam)
    return _estimate(value, influence, (used,), (sample,), confidence)


def ppi_difference(
    a: Sample,
    b: Sample,
    lams: tuple[float, float] | None = None,
    confidence: float = 0.95,
    pseudo_residuals: float = PSEUDO_RESIDUALS,
) -> Estimate:
    """The mean of `a` less that of `b`, each with a rectifier, a lambda and pseudo-residuals of its own.

    The judge may so err differently on the two; items of one cluster are paired. Raises ValueError as `ppi_mean`.
    """
    value_a, influence_a, lam_a = _mean(a, lams[0] if lams else None)
    value_b, influence_b, lam_b = _mean(b, lams[1] if lams else None)
    size = max(len(influence_a), len(influence_b))
    influence = np.pad(influence_a, (0, size - len(influence_a))) - np.pad(influence_b, (0, size - len(influence_b)))
    unseen = _pseudo_variance(a) + _pseudo_variance(b)
    if not unseen and np.abs(influence).max() < 1e-12:
        unseen = _pseudo_variance(a, beyond=True) + _pseudo_variance(b, beyond=True)
    return _estimate(value_a - value_b, influence, (lam_a, lam_b), (a, b), confidence, pseudo_residuals * unseen)


def effective_labels(cluster: Ints, weight: Floats) -> float:
    """How many independent labels of one weight these are worth (Kish, Survey Sampling, 1965).

    Labels of a cluster are taken as correlated by `ASSUMED_CORRELATION`: where no error was seen, none tells by how
    much errors are.
    """
    share = weight / weight.sum()
    by_cluster = np.bincount(cluster, share)
    alone, together = float(share @ share), float(by_cluster @ by_cluster)
    return 1 / (ASSUMED_CORRELATION * together + (1 - ASSUMED_CORRELATION) * alone)


def _pseudo_variance(sample: Sample, beyond: bool = False) -> float:
    """What one pseudo-residual adds to the variance; `beyond` these items, as if they were endlessly many."""
    known, weight = sample.labelled, _weights(sample)
    rest = weight if beyond else np.maximum(0.0, weight - sample.sizes[known] / sample.sizes.sum())
    if rest.sum() < 1e-12:
        return 0.0
    return float((sample.high - sample.low) * rest.sum() / effective_labels(sample.cluster[known], rest)) ** 2


def _weights(sample: Sample) -> Floats:
    """(labels,): the labels' weights, which sum to 1. Raises ValueError where no item has a label."""
    weight = (sample.weight * sample.sizes)[sample.labelled]
    if not len(weight):
        raise ValueError("no item has a label")
    shares: Floats = weight / weight.sum()
    return shares


def _mean(sample: Sample, lam: float | None) -> tuple[float, Floats, float]:
    """theta(lambda), the influence of each cluster on it, and lambda."""
    known, weight = sample.labelled, _weights(sample)
    lam = tuned_lambda(sample) if lam is None else lam
    residual = sample.human[known] - lam * sample.judged[known]
    share = sample.sizes / sample.sizes.sum()
    rectifier, judged = float(weight @ residual), float(share @ sample.judged)
    influence = lam * share * _off(sample)
    influence[known] += weight * (residual - rectifier)
    by_cluster: Floats = np.bincount(sample.cluster, influence).astype(np.float64)
    return lam * judged + rectifier, by_cluster, lam


def _off(sample: Sample) -> Floats:
    """(N,): how far the judge's values are from their part's mean.

    Times sqrt(m / (m - 1) (n - 1) / n), m of all n clusters having an item of the part: so few tell of its mean.
    """
    part = sample.parts
    mean = np.bincount(part, sample.judged) / np.bincount(part)
    if len(mean) == 1:
        return sample.judged - mean
    n = len(np.unique(sample.cluster))
    held = np.unique(np.stack([part, sample.cluster]), axis=1)[0]
    m = np.bincount(held).astype(np.float64)
    few = np.sqrt(np.divide(m * (n - 1), (m - 1) * n, out=np.ones_like(m), where=m > 1))
    off: Floats = few[part] * (sample.judged - mean[part])
    return off


def _estimate(
    value: float,
    influence: Floats,
    lams: tuple[float, ...],
    samples: tuple[Sample, ...],
    confidence: float,
    unseen: float = 0.0,
) -> Estimate:
    """`unseen`: the variance to be added for errors of the judge that no label has shown."""
    from scipy.special import stdtr, stdtrit

    n, clusters = sum(sample.n_labels for sample in samples), min(sample.n_clusters for sample in samples)
    if clusters < 2:
        return Estimate(value, lams, None, clusters - 1, None, None, None, n)
    error = sqrt(float(influence @ influence) * clusters / (clusters - 1) + unseen)
    reach = float(stdtrit(clusters - 1, (1 + confidence) / 2)) * error
    p = 2 * float(stdtr(clusters - 1, -abs(value) / error)) if error > 0 else None
    return Estimate(value, lams, error, clusters - 1, value - reach, value + reach, p, n)
