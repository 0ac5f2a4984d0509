"""What people's labels leave open about a mean, as draws: Jeffreys posteriors by strata of the judge's label.

Near the ends of a scale an interval from a standard error collapses: 30 labels on which people and judge agree have no
spread. So each stratum of the judge's value (its low end, its high end, between) has a posterior of its own: half a
pseudo-label at either end of the scale is added to the labels there, and a mean is drawn; for labels of 0 and 1 that is
the Beta posterior under Jeffreys' prior (Brown, Cai and DasGupta, Statistical Science 16(2), 2001). A stratum counts by
its share of all items, drawn too. All draws are one Bayesian bootstrap (Rubin, Annals of Statistics 9(1), 1981) with a
weight for each cluster: what one section or query has in common stays together, within an agent and between two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluate.ppi import Floats, Sample

PRIOR = 0.5
"""Pseudo-labels at each end of the scale in each stratum: Jeffreys' prior."""

STRATA = 3


@dataclass(frozen=True)
class Posterior:
    """Draws of one sample's means by stratum, arrays (replicates, STRATA).

    share: the stratum's part of all items; mean: of people's labels there; square: of their squares.
    """

    share: Floats
    mean: Floats
    square: Floats

    @property
    def value(self) -> Floats:
        """(replicates,): the mean over all items."""
        total: Floats = (self.share * self.mean).sum(axis=1)
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


def posterior(samples: Sequence[Sample], replicates: int, seed: int) -> tuple[Posterior, ...]:
    """Joint draws for `samples`, whose clusters have the same indices; the same seed gives the same draws."""
    generator = np.random.default_rng(seed)
    size = 1 + max(int(sample.cluster.max()) for sample in samples)
    profile = np.concatenate([_profile(sample, size) for sample in samples], axis=1)
    rows, counts = np.unique(profile.round(9), axis=0, return_counts=True)
    sums = generator.gamma(counts, size=(replicates, len(rows))) @ rows
    parts = sums.reshape(replicates, len(samples), 4, STRATA)
    return tuple(_drawn(parts[:, index], sample, generator) for index, sample in enumerate(samples))


def stratum(sample: Sample) -> NDArray[np.intp]:
    """(N,): 0 where the judge's value is at the low end, 2 at the high end, 1 between."""
    above, below = sample.judged > sample.low + 1e-9, sample.judged >= sample.high - 1e-9
    return above.astype(np.intp) + below.astype(np.intp)


def _profile(sample: Sample, size: int) -> Floats:
    """(clusters, 4 * STRATA): for each stratum the items, the labels' weights, and weighted labels and squares."""
    where, known = stratum(sample), sample.labelled
    table = np.zeros((4, STRATA, size))
    np.add.at(table[0], (where, sample.cluster), 1.0)
    places = (where[known], sample.cluster[known])
    human, weight = sample.human[known], sample.weight[known]
    for row, values in enumerate((weight, weight * human, weight * human**2), 1):
        np.add.at(table[row], places, values)
    table[1:] *= _scale(table[1])[None, :, None]
    return table.reshape(4 * STRATA, size).T


def _scale(weights: Floats) -> Floats:
    """What makes a stratum's weights sum to its effective number of clusters (Kish 1965), (sum w)^2 / sum w^2."""
    squares = (weights**2).sum(axis=1)
    factor: Floats = weights.sum(axis=1) / np.where(squares > 0, squares, 1.0)
    return factor


def _drawn(parts: Floats, sample: Sample, generator: np.random.Generator) -> Posterior:
    items, weight, label, square = (parts[:, row] for row in range(4))
    low, high = (generator.gamma(PRIOR, size=weight.shape) for _ in range(2))
    total = weight + low + high
    return Posterior(
        share=items / items.sum(axis=1, keepdims=True),
        mean=(label + low * sample.low + high * sample.high) / total,
        square=(square + low * sample.low**2 + high * sample.high**2) / total,
    )
