"""How likely each agent is the best: what the estimates say, shrunk by what their spread says.

The leader of many noisy estimates leads partly by luck, and the share of resamples that it leads in is as lucky as the
estimate. So the true strengths are taken to scatter around their mean with a standard deviation of their own, learned
from the estimates (the model of the eight schools: Rubin 1981; Gelman, Bayesian Analysis 1(3), 2006, section 5). Where
the estimates differ no more than their noise, all agents come out about as likely; where they differ much more, the
answer is that of the resamples.
"""

from __future__ import annotations

import numpy as np

from ragassay.arrays import Floats

DRAWS = 4000
SPREAD = 1.0
"""The scale of the half-normal prior of that standard deviation, in log odds (174 Elo points)."""

_GRID = np.linspace(0.005, 3.0, 120)


def share_best(log: Floats, covariance: Floats, n: int, seed: int) -> Floats:
    """(agents,): the posterior probability of being the strongest; they sum to 1.

    log: log strengths. covariance: of their estimates, from resampling `n` units (at least 2), whose own uncertainty
    is allowed for as in Student's t.
    """
    basis = _contrasts(len(log))
    values, axes = np.linalg.eigh(basis @ covariance @ basis.T * n / (n - 1))
    values, along = np.maximum(values, 1e-12), axes.T @ basis @ log
    generator = np.random.default_rng([seed, 3])
    noise = values * ((n - 1) / generator.chisquare(n - 1, DRAWS))[:, None]
    spread = generator.choice(_GRID, DRAWS, p=_spread_weights(along, values))[:, None] ** 2
    kept = spread / (spread + noise)
    drawn = kept * along + np.sqrt(kept * noise) * generator.standard_normal(noise.shape)
    best = np.argmax(drawn @ axes.T @ basis, axis=1)
    shares: Floats = np.bincount(best, minlength=len(log)) / DRAWS
    return shares


def _spread_weights(along: Floats, values: Floats) -> Floats:
    """The posterior of the standard deviation of the true strengths, on the grid."""
    total = values + _GRID[:, None] ** 2
    log_weight = -0.5 * (np.log(total) + along**2 / total).sum(axis=1) - 0.5 * (_GRID / SPREAD) ** 2
    weight = np.exp(log_weight - log_weight.max())
    shares: Floats = weight / weight.sum()
    return shares


def _contrasts(n: int) -> Floats:
    """(n - 1, n): orthonormal rows, each of sum 0 (Helmert's)."""
    rows = np.zeros((n - 1, n))
    for index in range(1, n):
        rows[index - 1, :index], rows[index - 1, index] = 1, -index
        rows[index - 1] /= np.sqrt(index * (index + 1))
    return rows
