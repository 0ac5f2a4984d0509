"""How likely each agent is the best, and what choosing the leader may lose: the means, shrunk by what their spread
says.

The leader of many noisy means leads partly by luck. So the true means are taken to scatter normally around their mean
with a standard deviation of their own, learned from the means seen (the model of the eight schools: Rubin 1981; Gelman,
Bayesian Analysis 1(3), 2006, section 5). Where they differ no more than their noise, all agents come out about as
likely; where they differ much more, the best seen is the best.

The noise is one variance, the mean over the contrasts of the agents, so that the larger mean is always the likelier
best. It is an average over what may be true, and no guarantee: `statistics.ladder` has that.
"""

from __future__ import annotations

import numpy as np

from ragassay.arrays import Floats

from ..statistics.clustered import NO_SPREAD

SPREAD = 0.1
"""The scale of the half-Cauchy prior of the true means' standard deviation, in points (0 to 1)."""

_SPREADS = np.concatenate([[0.0], np.geomspace(0.002, 1.0, 60)])
_VARIANCES, _MANY = 5, 300
"""Into how many equal parts the distribution of the variance is cut; degrees of freedom from which it is known."""

_STEPS = np.linspace(-8, 8, 241)
"""Where the distribution of the largest is summed, in standard deviations of one around the whole of all."""


def best_of(means: Floats, variance: float, df: float = np.inf) -> tuple[Floats, float]:
    """(agents,): how likely each is the best, which sum to 1; and by how much the first is expected to fall short.

    means: (agents,), at least two. variance: of the means' noise, above 0, as of one contrast of theirs, learned
    with `df` degrees of freedom: as in Student's t it may be larger.
    """
    from scipy.special import chdtri

    places = (np.arange(_VARIANCES) + 0.5) / _VARIANCES
    scales = df / chdtri(df, places) if df < _MANY else np.ones(1)
    parts = [_best_of(means - means.mean(), variance * scale) for scale in scales.tolist()]
    chances, losses = zip(*parts, strict=True)
    return np.mean(chances, axis=0), float(np.mean(losses))


def _best_of(centred: Floats, variance: float) -> tuple[Floats, float]:
    from scipy.special import ndtr

    weights = _weights(centred, variance)
    chance, loss = np.zeros(len(centred)), 0.0
    for spread, weight in zip(_SPREADS**2, weights, strict=True):
        if weight < 1e-9:
            continue
        kept = spread / (spread + variance)
        level, deviation = kept * centred, np.sqrt(kept * variance)
        if deviation < NO_SPREAD:
            chance += weight / len(centred)
            continue
        ends = level.min() + _STEPS[0] * deviation, level.max() + _STEPS[-1] * deviation
        at = np.linspace(*ends, max(len(_STEPS), int(8 * (ends[1] - ends[0]) / deviation)))
        z = (at - level[:, None]) / deviation
        below = np.maximum(ndtr(z), 1e-300)
        # Each one's density of being the largest: its own by the chance that all others are below.
        largest = np.exp(-(z**2) / 2 + np.log(below).sum(axis=0) - np.log(below))
        total = largest.sum()
        chance += weight * largest.sum(axis=1) / total
        loss += weight * float((largest.sum(axis=0) * at).sum() / total - level[0])
    return chance / chance.sum(), float(max(0.0, loss))


def common_variance(residuals: Floats, n: int) -> float:
    """The mean variance of the contrasts between agents' means.

    residuals: (agents, clusters), each cluster's part of a mean's error. n: clusters, at least 2.
    """
    spread = residuals @ residuals.T * n / (n - 1)
    k = len(spread)
    return float((np.trace(spread) - spread.sum() / k) / (k - 1))


def _weights(centred: Floats, variance: float) -> Floats:
    """The posterior of the standard deviation of the true means, on the grid; each value stands for its step."""
    total = variance + _SPREADS**2
    log = -0.5 * ((len(centred) - 1) * np.log(total) + (centred**2).sum() / total) - np.log1p((_SPREADS / SPREAD) ** 2)
    weights = np.exp(log - log.max()) * np.gradient(_SPREADS)
    shares: Floats = weights / weights.sum()
    return shares
