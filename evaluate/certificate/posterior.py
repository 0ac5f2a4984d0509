"""What real and written queries together say of the systems: draws from the posterior of their real differences.

Along an axis, in its standard deviations: a real mean is N(theta, 1/n), a written one N(theta + gap, v), and both theta
and gap are unknown. theta is N(0, a); the gap is N(0, b u), where u, inverse gamma with `GAP_DF` degrees of freedom,
lets single axes be off far more than others: Student's t. a and b are learned from the real-minus-written gaps of all
axes together, those that lead and the others apart, since a writer's favour (for words, for meaning) lies along the
leading ones. 1 / b is how many real queries the written set is worth at most; b up to 1 makes it worth one. Where real
and written means disagree the written one is discounted, along that axis or along all (a robust meta-analytic prior:
Schmidli et al., Biometrics 70(4), 2014; shrinking the differences: Stephens, Biostatistics 18(2), 2017). All by grids.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragassay.arrays import Floats, Ints

from .axes import Axes

GAP_DF = 4.0
DRAWS = 2000

_A = np.geomspace(1 / 300, 1.0, 8)
_B = np.geomspace(1 / 1000, 1.0, 16)
_U = np.geomspace(0.05, 100.0, 24)


class Drawn(NamedTuple):
    """means: (draws, systems), the real means less their common mean. worth: (draws,), real queries that the written
    set counts for, the mean over the leading axes."""

    means: Floats
    worth: Floats


class _Likelihood(NamedTuple):
    """of_scales: (a, b), their posterior. of_axes: (a, b, axes, u), that of u, its sum 1."""

    of_scales: Floats
    of_axes: Floats


def draw(axes: Axes, seed: int, draws: int = DRAWS) -> Drawn:
    """From the posterior, the uncertainty of the covariance in one Student factor for all axes."""
    generator = np.random.default_rng(seed)
    theta, weight = (np.zeros((draws, len(axes.real))) for _ in range(2))
    for group in (np.flatnonzero(axes.leading), np.flatnonzero(~axes.leading)):
        if len(group):
            theta[:, group], weight[:, group] = _drawn(axes, group, generator, draws)
    worth = weight[:, axes.leading].mean(axis=1) if axes.leading.any() else np.zeros(draws)
    return Drawn(theta @ axes.loadings, worth)


def _drawn(axes: Axes, group: Ints, generator: np.random.Generator, draws: int) -> tuple[Floats, Floats]:
    """(draws, axes of the group) twice: theta, and how many real queries the written mean counts for."""
    real, written, variance = axes.real[group], axes.written[group], axes.written_variance[group]
    found = _likelihood(axes.n, real, written, variance)
    chosen = generator.choice(found.of_scales.size, draws, p=found.of_scales.ravel())
    a, b = np.unravel_index(chosen, found.of_scales.shape)
    below = np.cumsum(found.of_axes, axis=-1)[a, b] < generator.random((draws, len(group)))[..., None]
    u = np.minimum(below.sum(axis=-1), len(_U) - 1)
    weight = 1 / (variance + _B[b][:, None] * _U[u])
    precision = axes.n + weight + 1 / _A[a][:, None]
    mean = (axes.n * real + weight * written) / precision
    inflated = axes.df / generator.chisquare(axes.df, (draws, 1))
    theta: Floats = mean + generator.standard_normal(mean.shape) * np.sqrt(inflated / precision)
    return theta, weight


def _likelihood(n: int, real: Floats, written: Floats, variance: Floats) -> _Likelihood:
    a = _A[:, None]
    spread = a + 1 / n
    of_real = (-0.5 * real**2 / spread - 0.5 * np.log(spread)).sum(axis=1)
    gap = written - real * a / spread
    total = (a / n / spread + variance)[:, None, :, None] + _B[:, None, None] * _U
    joint = np.exp(-0.5 * gap[:, None, :, None] ** 2 / total) / np.sqrt(total) * _weights_of_u()
    sums = joint.sum(axis=-1, keepdims=True) + 1e-300
    log = np.log(sums[..., 0]).sum(axis=-1) + of_real[:, None]
    scales = np.exp(log - log.max())
    return _Likelihood(scales / scales.sum(), joint / sums)


def _weights_of_u() -> Floats:
    """Of the inverse gamma with shape and scale GAP_DF / 2, on a grid even in the logarithm."""
    half = GAP_DF / 2
    weights = np.exp(-half * np.log(_U) - half / _U)
    shares: Floats = weights / weights.sum()
    return shares
