"""How likely each agent is the best, and what choosing one may lose: the estimates, shrunk by what their spread says.

The leader of many noisy estimates leads partly by luck, and the share of resamples that it leads in is as lucky as the
estimate. So the true strengths are taken to scatter around their mean with a standard deviation of their own, learned
from the estimates (the model of the eight schools: Rubin 1981; Gelman, Bayesian Analysis 1(3), 2006, section 5). Where
the estimates differ no more than their noise, all agents come out about as likely; where they differ much more, the
answer is that of the resamples.
"""

from __future__ import annotations

import numpy as np

from ragassay.arrays import Floats

from ..statistics.orders import contrasts

DRAWS = 4000
SPREAD = 1.0
"""The scale of the half-normal prior of that standard deviation, in log odds (174 Elo points)."""
SPREAD_OF_SHARES = SPREAD / 4
"""The same of shares of games won: near one half, a step in log odds is a quarter as large a step of the share."""

_GRID = np.linspace(0.005, 3.0, 120)
"""In units of `SPREAD`."""


def share_best(log: Floats, covariance: Floats, n: int, seed: int) -> Floats:
    """(agents,): the posterior probability of being the strongest; they sum to 1.

    log: log strengths. covariance: of their estimates, from resampling `n` units (at least 2), whose own uncertainty
    is allowed for as in Student's t.
    """
    best = np.argmax(drawn(log, covariance, n, seed), axis=1)
    shares: Floats = np.bincount(best, minlength=len(log)) / DRAWS
    return shares


def expected_regret(leader: int, means: Floats, covariance: Floats, n: int, seed: int) -> float:
    """The posterior mean of how far agent `leader` falls short of the best, at least 0, in the unit of `means`.

    means: shares from 0 to 1 (agents,). covariance: of these, over `n` units (at least 2).
    """
    level = drawn(means, covariance, n, seed, SPREAD_OF_SHARES)
    return float((level.max(axis=1) - level[:, leader]).mean())


def drawn(estimates: Floats, covariance: Floats, n: int, seed: int, scale: float = SPREAD) -> Floats:
    """(DRAWS, agents): draws from the posterior of what is estimated, about its mean over the agents.

    covariance: of the estimates, over `n` units (at least 2). scale: of the prior of the truth's standard deviation.
    """
    basis = contrasts(len(estimates))
    values, axes = np.linalg.eigh(basis @ covariance @ basis.T * n / (n - 1))
    values, along = np.maximum(values, 1e-12), axes.T @ basis @ estimates
    generator = np.random.default_rng([seed, 3])
    noise = values * ((n - 1) / generator.chisquare(n - 1, DRAWS))[:, None]
    spread = generator.choice(_GRID * scale, DRAWS, p=_spread_weights(along, values, scale))[:, None] ** 2
    kept = spread / (spread + noise)
    level = kept * along + np.sqrt(kept * noise) * generator.standard_normal(noise.shape)
    points: Floats = level @ axes.T @ basis
    return points


def _spread_weights(along: Floats, values: Floats, scale: float) -> Floats:
    """The posterior of the standard deviation of the true strengths, on the grid."""
    total = values + (_GRID * scale)[:, None] ** 2
    log_weight = -0.5 * (np.log(total) + along**2 / total).sum(axis=1) - 0.5 * _GRID**2
    weight = np.exp(log_weight - log_weight.max())
    shares: Floats = weight / weight.sum()
    return shares
