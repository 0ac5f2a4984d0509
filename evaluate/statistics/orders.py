"""Two orders of the same systems: how far they agree, and what choosing by one loses under the other.

Every function takes means of shape (..., systems), broadcast against each other, and gives shape (...). Means that
differ by no more than rounding are tied.
"""

from __future__ import annotations

import numpy as np

from ragassay.arrays import Floats, Ints

from .clustered import NO_SPREAD


def tau_b(one: Floats, other: Floats) -> Floats:
    """Kendall's tau-b (Biometrika 33(3), 1945), -1 to 1; NaN where one ties them all."""
    a, b = _pairs(one), _pairs(other)
    untied = np.abs(a).sum(axis=-1) * np.abs(b).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        value: Floats = (a * b).sum(axis=-1) / np.sqrt(np.where(untied > 0, untied, np.nan))
    return value


def rho(one: Floats, other: Floats) -> Floats:
    """Spearman's rho, Pearson's correlation of mid-ranks, -1 to 1; NaN where one ties them all."""
    a, b = _places(one), _places(other)
    a, b = a - a.mean(axis=-1, keepdims=True), b - b.mean(axis=-1, keepdims=True)
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


def pairs(n: int) -> tuple[Ints, Ints]:
    """The first and the second of every two of `n` systems."""
    first, second = np.triu_indices(n, 1)
    return first, second


def contrasts(n: int) -> Floats:
    """(n - 1, n): orthonormal rows, each of sum 0 (Helmert's)."""
    rows = np.zeros((n - 1, n))
    for index in range(1, n):
        rows[index - 1, :index], rows[index - 1, index] = 1, -index
        rows[index - 1] /= np.sqrt(index * (index + 1))
    return rows


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
