"""What people's labels leave open about a mean, as draws: Jeffreys posteriors by strata of the judge's label.

Near the ends of a scale an interval from a standard error collapses: 30 labels on which people and judge agree have no
spread. So each stratum of the judge's value (its low end, its high end, between) has a posterior of its own: half a
pseudo-label at either end of the scale is added to the labels there, and a mean is drawn; for labels of 0 and 1 that is
the Beta posterior under Jeffreys' prior (Brown, Cai and DasGupta, Statistical Science 16(2), 2001). A stratum counts by
its share of all items, drawn too (part by part, where the mean over all is made of parts). All draws are one Bayesian
bootstrap (Rubin, Annals of Statistics 9(1), 1981) with a weight for each cluster: what one section or query has in
common stays together.

Where all labels of a stratum lie at one end of the scale, Jeffreys' far limit is too near; that paper's modified
interval (section 4.1.2) takes (alpha / 2)^(1 / n) there, which is Clopper and Pearson's. So draws for an interval's
lower and upper end are kept apart: for the end away from the labels, such a stratum has a whole pseudo-label there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragassay.arrays import Floats, Ints, Truths

from .ppi import Sample

PRIOR = 0.5
"""Pseudo-labels at each end of the scale in each stratum: Jeffreys' prior."""

STRATA = 3


@dataclass(frozen=True)
class Posterior:
    """Draws of one sample's means by stratum, arrays (replicates, STRATA).

    share: the stratum's part of all items; mean: of people's labels there; square: of their squares. lowest, highest:
    the mean again, as it is drawn for the lower and for the upper end of an interval: at most `mean`, at least `mean`.
    """

    share: Floats
    mean: Floats
    square: Floats
    lowest: Floats
    highest: Floats

    @property
    def value(self) -> Floats:
        """(replicates,): the mean over all items."""
        return self._whole(self.mean)

    @property
    def for_low(self) -> Floats:
        """(replicates,): `value` as drawn for the lower end of its interval."""
        return self._whole(self.lowest)

    @property
    def for_high(self) -> Floats:
        """(replicates,): `value` as drawn for the upper end."""
        return self._whole(self.highest)

    def _whole(self, means: Floats) -> Floats:
        total: Floats = (self.share * means).sum(axis=1)
        return total

    @property
    def within(self) -> Floats:
        """(replicates,): the variance of labels that the judge's stratum leaves unexplained."""
        spread: Floats = (self.share * (self.square - self.mean**2)).sum(axis=1)
        return spread

    @property
    def spread(self) -> Floats:
        """(replicates,): the variance of labels over all items."""
        whole: Floats = (self.share * self.square).sum(axis=1) - self.value**2
        return whole


def posterior(sample: Sample, replicates: int, seed: int) -> Posterior:
    """Draws for one sample; the same seed gives the same draws."""
    generator = np.random.default_rng(seed)
    rows, counts = _distinct(_profile(sample, 1 + int(sample.cluster.max())).round(9))
    sums = generator.gamma(counts, size=(replicates, len(rows))) @ rows
    return _drawn(sums.reshape(replicates, -1, STRATA), sample, generator)


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
    table[-3:] *= _scale(table[-3])[None, :, None]
    return table.reshape(-1, size).T


def _scale(weights: Floats) -> Floats:
    """What makes a stratum's weights sum to its effective number of clusters (Kish 1965), (sum w)^2 / sum w^2."""
    squares = (weights**2).sum(axis=1)
    factor: Floats = weights.sum(axis=1) / np.where(squares > 0, squares, 1.0)
    return factor


def _all_at(sample: Sample, end: float) -> Truths:
    """(STRATA,): where there are labels, and all of them are `end`."""
    where, human = stratum(sample)[sample.labelled], sample.human[sample.labelled]
    away = np.bincount(where, np.abs(human - end), minlength=STRATA)
    alike: Truths = (np.bincount(where, minlength=STRATA) > 0) & (away < 1e-9)
    return alike


def _drawn(parts: Floats, sample: Sample, generator: np.random.Generator) -> Posterior:
    weight, label, square = (parts[:, row] for row in (-3, -2, -1))
    counts = np.bincount(sample.parts, sample.sizes)
    items = parts[:, :-3] / parts[:, :-3].sum(axis=2, keepdims=True)
    low, high = (generator.gamma(PRIOR, size=weight.shape) for _ in range(2))
    far_low, far_high = (end + generator.gamma(1 - PRIOR, size=weight.shape) for end in (low, high))
    total = weight + low + high
    mean = (label + low * sample.low + high * sample.high) / total
    return Posterior(
        share=np.einsum("p,rps->rs", counts / counts.sum(), items),
        mean=mean,
        square=(square + low * sample.low**2 + high * sample.high**2) / total,
        lowest=np.where(_all_at(sample, sample.high), _pulled(weight, label, far_low, sample.low), mean),
        highest=np.where(_all_at(sample, sample.low), _pulled(weight, label, far_high, sample.high), mean),
    )


def _pulled(weight: Floats, label: Floats, pseudo: Floats, end: float) -> Floats:
    """The mean of the labels, and of pseudo-labels at one end alone."""
    total = weight + pseudo
    mean: Floats = (label + pseudo * end) / total
    return mean
