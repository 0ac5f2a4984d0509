"""Two orders of the same systems: how far they agree, and what choosing by one loses under the other.

Every function takes means of shape (..., systems), broadcast against each other, and gives shape (...). Means that
differ by no more than rounding are tied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ragassay.arrays import Floats, Ints

from .clustered import NO_SPREAD
from .resamples import expanded_tail


def tau_b(one: Floats, other: Floats) -> Floats:
    """Kendall's tau-b (Biometrika 33(3), 1945), -1 to 1; NaN where one ties them all."""
    return _cosine(_pairs(one), _pairs(other))


def rho(one: Floats, other: Floats) -> Floats:
    """Spearman's rho, Pearson's correlation of mid-ranks, -1 to 1; NaN where one ties them all."""
    a, b = _places(one), _places(other)
    return _cosine(a - a.mean(axis=-1, keepdims=True), b - b.mean(axis=-1, keepdims=True))


def _cosine(a: Floats, b: Floats) -> Floats:
    spread = (a**2).sum(axis=-1) * (b**2).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        value: Floats = (a * b).sum(axis=-1) / np.sqrt(np.where(spread > 0, spread, np.nan))
    return value


def loss(people: Floats, chooser: Floats) -> Floats:
    """The best of people's means less that of the chooser's best; the mean over those that tie for the choice."""
    value: Floats = people.max(axis=-1) - (people * _choice(chooser)).sum(axis=-1)
    return value


def place(people: Floats, chooser: Floats) -> Floats:
    """Where the chooser's best stands in people's order, from 1; the mean over those that tie for the choice."""
    value: Floats = (_places(people) * _choice(chooser)).sum(axis=-1)
    return value


@lru_cache(maxsize=32)
def pairs(n: int) -> tuple[Ints, Ints]:
    """The first and the second of every two of `n` systems."""
    first, second = np.triu_indices(n, 1)
    return first, second


def _pairs(means: Floats) -> Floats:
    first, second = pairs(means.shape[-1])
    return _signs(means[..., first] - means[..., second])


def _places(means: Floats) -> Floats:
    """Mid-ranks, from 1 for the highest mean."""
    above = _signs(means[..., None, :] - means[..., :, None]).sum(axis=-1)
    places: Floats = (above + means.shape[-1] + 1) / 2
    return places


def _choice(means: Floats) -> Floats:
    best = means > means.max(axis=-1, keepdims=True) - NO_SPREAD
    share: Floats = best / best.sum(axis=-1, keepdims=True)
    return share


def _signs(gaps: Floats) -> Floats:
    return np.where(np.abs(gaps) > NO_SPREAD, np.sign(gaps), 0.0)


Statistic = Callable[[Floats, Floats], Floats]
"""Of means of shape (..., systems)."""
Ends = tuple[float | None, float | None]

_DRAWS = 1000
_CORRELATIONS = np.linspace(-1, 1, 21)
_SPREADS = np.geomspace(0.005, 0.5, 10)
"""Standard deviations of the true means, in units of the measure's width."""
_SCALE = 0.25
"""Of the half-normal prior of these."""


@dataclass(frozen=True)
class Means:
    """Of the systems by one kind of query. means: (systems,); drawn: (replicates, systems), of resampled queries, NaN
    where none with a value was drawn. n_units: independent clusters that were resampled."""

    means: Floats
    drawn: Floats
    n_units: int

    def covariance(self) -> Floats:
        """(systems, systems): of the means; wider by what so few units leave open about it (Student's t)."""
        from scipy.special import ndtri, stdtrit

        n = self.n_units
        wider = float(stdtrit(n - 1, 0.975) / ndtri(0.975)) ** 2 * n / (n - 1)
        return np.asarray(np.cov(self.drawn[np.isfinite(self.drawn).all(axis=1)].T) * wider)


def order_intervals(
    one: Means, other: Means, statistics: Mapping[str, Statistic], width: float, seed: int
) -> dict[str, Ends]:
    """The 95% interval of each statistic, by its name.

    Resampling alone misleads here: a resample adds its own noise to that of the queries, so that two orders that truly
    are the same agree less in nearly every one, and the percentile interval leaves out the truth. So the true means are
    drawn from what the estimates say of them: on each side they scatter by a standard deviation of its own, and between
    the sides they are correlated, and all three are learned from the estimates, given these' covariance over resamples
    (a model as that of `ratings.bradley_terry.best_of`, for two sides). The interval has the middle 95% of the
    draws, moved out to the expanded percentiles of the resamples where these lie farther: the model can be too sure
    that what differs little on both sides goes the same way. `benchmarks/coverage/sources.py` simulates how often it
    holds.

    width: how far apart two values can be. None below two units of either side, and where no resample differs.
    """
    known = np.isfinite(one.drawn).all(axis=1) & np.isfinite(other.drawn).all(axis=1)
    n = min(one.n_units, other.n_units)
    spread = max((float(np.ptp(side.drawn[known], axis=0).max()) if known.any() else 0.0) for side in (one, other))
    if n < 2 or known.sum() < 2 or spread < NO_SPREAD:
        return dict.fromkeys(statistics, (None, None))
    true, tail, found = _true_means(one, other, width, seed), expanded_tail(n, 0.95), dict[str, Ends]()
    for name, statistic in statistics.items():
        values = [
            np.array([float(statistic(one.means, other.means))]),
            _inner(statistic(*true), 0.025),
            _inner(statistic(one.drawn[known], other.drawn[known]), tail),
        ]
        every = np.concatenate(values)
        found[name] = (float(every.min()), float(every.max()))
    return found


def _inner(values: Floats, tail: float) -> Floats:
    """Both ends; none of values that are all undefined."""
    values = values[np.isfinite(values)]
    return np.quantile(values, [tail, 1 - tail], method="closest_observation") if len(values) else values


def _true_means(one: Means, other: Means, width: float, seed: int) -> tuple[Floats, Floats]:
    """(draws, systems) of each side: the true means, about their mean over the systems."""
    from scipy.linalg import helmert

    basis: Floats = helmert(len(one.means))  # orthonormal rows, each of sum 0
    size = len(basis)
    noise = np.zeros((2 * size, 2 * size))
    noise[:size, :size] = basis @ one.covariance() @ basis.T / width**2
    noise[size:, size:] = basis @ other.covariance() @ basis.T / width**2
    noise += NO_SPREAD * np.eye(2 * size)
    seen = np.concatenate([basis @ one.means, basis @ other.means]) / width
    drawn = _posterior(seen, noise, np.random.default_rng([seed, 5]))
    return drawn[:, :size] @ basis, drawn[:, size:] @ basis


def _posterior(seen: Floats, noise: Floats, generator: np.random.Generator) -> Floats:
    """(draws, 2 size): of the contrasts behind `seen`, one side after the other.

    A cell of the grid of spreads and correlation is drawn by its weight; the contrasts in it by what the cell itself
    would have given, moved by what is seen (Matheron's rule, which takes a singular prior).
    """
    grid = np.array([(r, one, other) for r in _CORRELATIONS for one in _SPREADS for other in _SPREADS])
    cells = grid[generator.choice(len(grid), _DRAWS, p=_weights(grid, seen, noise))]
    prior, size = _prior(cells, len(seen) // 2), len(seen) // 2
    free = generator.standard_normal((_DRAWS, 2, size))
    r, one, other = cells.T[:, :, None]
    second = r * free[:, 0] + np.sqrt(np.maximum(0.0, 1 - r**2)) * free[:, 1]
    made = np.concatenate([one * free[:, 0], other * second], axis=1)
    error = generator.standard_normal(made.shape) @ np.linalg.cholesky(noise).T
    moved = np.linalg.solve(prior + noise, (seen - made - error)[..., None])
    return np.asarray(made + (prior @ moved)[..., 0])


def _weights(grid: Floats, seen: Floats, noise: Floats) -> Floats:
    """(cells,): the posterior of the grid; its cells are even in the logarithm of the spreads."""
    log = []
    for cells in np.array_split(grid, len(_CORRELATIONS)):
        root = np.linalg.cholesky(_prior(cells, len(seen) // 2) + noise)
        z = np.linalg.solve(root, np.broadcast_to(seen[:, None], (len(cells), len(seen), 1)))[..., 0]
        log.append(-0.5 * (z**2).sum(axis=1) - np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1))
    spreads = grid[:, 1:]
    total = np.concatenate(log) + (np.log(spreads) - 0.5 * (spreads / _SCALE) ** 2).sum(axis=1)
    weight = np.exp(total - total.max())
    return np.asarray(weight / weight.sum())


def _prior(cells: Floats, size: int) -> Floats:
    """(cells, 2 size, 2 size): the covariance of the true contrasts, of cells of (correlation, spread, spread)."""
    r, one, other = cells.T
    sides = np.stack([one**2, r * one * other, r * one * other, other**2], axis=1).reshape(-1, 2, 2)
    return np.asarray(np.einsum("nij,kl->nikjl", sides, np.eye(size)).reshape(len(cells), 2 * size, 2 * size))
