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

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from ragassay.arrays import Floats, Ints, Truths

from .clustered import ASSUMED_CORRELATION
from .resamples import expanded_tail

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
        return np.asarray(~np.isnan(self.human))

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


def ppi_mean(sample: Sample, lam: float | None = None) -> Estimate:
    """The mean of what people would say of every item. `lam` fixes lambda (0 to 1), None tunes it.

    Raises ValueError where no item has a label.
    """
    return _estimate(*_mean(sample, lam), (sample,))


def ppi_difference(a: Sample, b: Sample, pseudo_residuals: float = PSEUDO_RESIDUALS) -> Estimate:
    """The mean of `a` less that of `b`, each with a rectifier, a lambda and pseudo-residuals of its own.

    The judge may so err differently on the two; items of one cluster are paired. Raises ValueError as `ppi_mean`.
    """
    (value_a, influence_a), (value_b, influence_b) = _mean(a), _mean(b)
    size = max(len(influence_a), len(influence_b))
    influence = np.pad(influence_a, (0, size - len(influence_a))) - np.pad(influence_b, (0, size - len(influence_b)))
    unseen = _pseudo_variance(a) + _pseudo_variance(b)
    if not unseen and np.abs(influence).max() < 1e-12:
        unseen = _pseudo_variance(a, beyond=True) + _pseudo_variance(b, beyond=True)
    return _estimate(value_a - value_b, influence, (a, b), pseudo_residuals * unseen)


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
    return np.asarray(weight / weight.sum())


def _mean(sample: Sample, lam: float | None = None) -> tuple[float, Floats]:
    """theta(lambda), and the influence of each cluster on it."""
    known, weight = sample.labelled, _weights(sample)
    lam = tuned_lambda(sample) if lam is None else lam
    residual = sample.human[known] - lam * sample.judged[known]
    share = sample.sizes / sample.sizes.sum()
    rectifier, judged = float(weight @ residual), float(share @ sample.judged)
    influence = lam * share * _off(sample)
    influence[known] += weight * (residual - rectifier)
    by_cluster: Floats = np.bincount(sample.cluster, influence).astype(np.float64)
    return lam * judged + rectifier, by_cluster


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
    return np.asarray(few[part] * (sample.judged - mean[part]))


def _estimate(value: float, influence: Floats, samples: tuple[Sample, ...], unseen: float = 0.0) -> Estimate:
    """`unseen`: the variance to be added for errors of the judge that no label has shown."""
    from scipy.special import stdtr, stdtrit

    n, clusters = sum(sample.n_labels for sample in samples), min(sample.n_clusters for sample in samples)
    if clusters < 2:
        return Estimate(value, None, clusters - 1, None, None, None, n)
    error = sqrt(float(influence @ influence) * clusters / (clusters - 1) + unseen)
    reach = float(stdtrit(clusters - 1, (1 + 0.95) / 2)) * error
    p = 2 * float(stdtr(clusters - 1, -abs(value) / error)) if error > 0 else None
    return Estimate(value, error, clusters - 1, value - reach, value + reach, p, n)


PRIOR = 0.5
"""Pseudo-labels at each end of the scale in each stratum: Jeffreys' prior."""

STRATA = 3


@dataclass(frozen=True)
class Posterior:
    """Draws of one sample; arrays (replicates,) but for share, (replicates, STRATA), each stratum's part of all items.

    value: the mean over all items. for_low, for_high: the same as it is drawn for the lower and for the upper end of an
    interval: at most `value`, at least `value`. within: the variance of labels that the judge's stratum leaves
    unexplained; spread: that of labels over all items.
    """

    share: Floats
    value: Floats
    for_low: Floats
    for_high: Floats
    within: Floats
    spread: Floats


def posterior(sample: Sample, replicates: int, seed: int) -> Posterior:
    """Draws for one sample; the same seed gives the same draws.

    Near the ends of a scale an interval from a standard error collapses: 30 labels on which people and judge agree have
    no spread. So each stratum of the judge's value (its low end, its high end, between) has a posterior of its own:
    half a pseudo-label at either end of the scale is added to the labels there, and a mean is drawn; for labels of 0
    and 1 that is the Beta posterior under Jeffreys' prior (Brown, Cai and DasGupta, Statistical Science 16(2), 2001). A
    stratum counts by its share of all items, drawn too (part by part, where the mean over all is made of parts). All
    draws are one Bayesian bootstrap (Rubin, Annals of Statistics 9(1), 1981) with a weight for each cluster: what one
    section or query has in common stays together.

    Where all labels of a stratum lie at one end of the scale, Jeffreys' far limit is too near; that paper's modified
    interval (section 4.1.2) takes (alpha / 2)^(1 / n) there, which is Clopper and Pearson's. So draws for an interval's
    lower and upper end are kept apart: for the end away from the labels, such a stratum has a whole pseudo-label there.
    """
    generator = np.random.default_rng(seed)
    rows, counts = _distinct(_profile(sample, 1 + int(sample.cluster.max())).round(9))
    sums = generator.gamma(counts, size=(replicates, len(rows))) @ rows
    parts = sums.reshape(replicates, -1, STRATA)
    weight, label, square = (parts[:, row] for row in (-3, -2, -1))
    counts = np.bincount(sample.parts, sample.sizes)
    items = parts[:, :-3] / parts[:, :-3].sum(axis=2, keepdims=True)
    low, high = (generator.gamma(PRIOR, size=weight.shape) for _ in range(2))
    far_low, far_high = (end + generator.gamma(1 - PRIOR, size=weight.shape) for end in (low, high))
    total = weight + low + high
    mean = (label + low * sample.low + high * sample.high) / total
    square = (square + low * sample.low**2 + high * sample.high**2) / total
    lowest = np.where(_all_at(sample, sample.high), _pulled(weight, label, far_low, sample.low), mean)
    highest = np.where(_all_at(sample, sample.low), _pulled(weight, label, far_high, sample.high), mean)
    share = np.einsum("p,rps->rs", counts / counts.sum(), items)
    within, every = share * (square - mean**2), share * square
    value, for_low, for_high = ((share * means).sum(axis=1) for means in (mean, lowest, highest))
    return Posterior(share, value, for_low, for_high, within.sum(axis=1), every.sum(axis=1) - value**2)


def _distinct(table: Floats) -> tuple[Floats, Ints]:
    """The different rows in lexical order, and how often each occurs: `np.unique`, at a twentieth of its time."""
    ordered = table[np.lexsort(table.T[::-1])]
    first = np.flatnonzero(np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1)))
    return ordered[first], np.diff(first, append=len(table))


def stratum(sample: Sample) -> Ints:
    """(N,): 0 where the judge's value is at the low end, 2 at the high end, 1 between."""
    above, below = sample.judged > sample.low + 1e-9, sample.judged >= sample.high - 1e-9
    return above.astype(np.intp) + below.astype(np.intp)


def _profile(sample: Sample, size: int) -> Floats:
    """(clusters, (parts + 3) * STRATA): for each stratum the items of each part, the labels' weights, and weighted
    labels and squares."""
    where, known, part = stratum(sample), sample.labelled, sample.parts
    table = np.zeros((4 + int(part.max()), STRATA, size))
    places = (where[known], sample.cluster[known])
    human, weight = sample.human[known], (sample.weight * sample.sizes)[known]
    np.add.at(table, (part, where, sample.cluster), 1.0)
    for row, values in zip(table[-3:], (weight, weight * human, weight * human**2), strict=True):
        np.add.at(row, places, values)
    # So a stratum's weights sum to its effective number of clusters (Kish 1965), (sum w)^2 / sum w^2.
    squares = (table[-3] ** 2).sum(axis=1)
    table[-3:] *= (table[-3].sum(axis=1) / np.where(squares > 0, squares, 1.0))[None, :, None]
    return table.reshape(-1, size).T


def _all_at(sample: Sample, end: float) -> Truths:
    """(STRATA,): where there are labels, and all of them are `end`."""
    where, human = stratum(sample)[sample.labelled], sample.human[sample.labelled]
    away = np.bincount(where, np.abs(human - end), minlength=STRATA)
    return np.asarray((np.bincount(where, minlength=STRATA) > 0) & (away < 1e-9))


def _pulled(weight: Floats, label: Floats, pseudo: Floats, end: float) -> Floats:
    """The mean of the labels, and of pseudo-labels at one end alone."""
    return np.asarray((label + pseudo * end) / (weight + pseudo), dtype=np.float64)


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
    n_labels: int
    helps: bool | None
    p: float | None = None


def correct_mean(sample: Sample, seed: int, replicates: int = REPLICATES) -> Corrected:
    """The mean over all items of what people would say. Raises ValueError where no item has a label.

    The value is PPI++'s (`ppi_mean`). Its interval comes from `posterior`, whose width does not collapse where judge
    and people agree on every label; its quantiles are taken further out for few clusters (Hesterberg 2015, section
    4.3), and it always holds the value.
    """
    found = ppi_mean(sample)
    drawn = posterior(sample, replicates, seed)
    value = float(np.clip(found.value, sample.low, sample.high))
    tail = expanded_tail(max(2, sample.n_clusters), 0.95)
    low, high = float(np.quantile(drawn.for_low, tail)), float(np.quantile(drawn.for_high, 1 - tail))
    return Corrected(value, min(low, value), max(high, value), found.n_labels, helps((sample,)))


def correct_difference(a: Sample, b: Sample) -> Corrected:
    """The mean of `a` less that of `b`, the judge's errors on each estimated apart.

    Its interval is PPI++'s own, Student's t, with the pseudo-residuals of `ppi_difference`.
    Raises ValueError where no item of one has a label, and below two clusters with one.
    """
    found = ppi_difference(a, b)
    if found.ci_low is None or found.ci_high is None:
        raise ValueError("labels on fewer than two clusters")
    limits = a.low - b.high, a.high - b.low
    value, low, high = (float(np.clip(end, *limits)) for end in (found.value, found.ci_low, found.ci_high))
    return Corrected(value, low, high, found.n_labels, helps((a, b)), found.p)


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
