"""How far a set of questions is from another in its figures: the energy distance of their standardised vectors.

Székely and Rizzo 2013, "Energy statistics: A class of statistics based on distances", Journal of Statistical Planning
and Inference 143: E(X, Y) = 2 E|X - Y| - E|X - X'| - E|Y - Y'|, which is 0 where both are distributed alike, and only
then. Samples carry weights here, so that a few questions of experts can be filled up with those of other people.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """points: a row each. weights: of the rows, not negative, adding up to 1."""

    points: Array
    weights: Array

    @classmethod
    def even(cls, points: Array) -> Sample:
        """All rows (at least one) weigh the same."""
        return cls(points, np.full(len(points), 1 / len(points)))

    @classmethod
    def mixed(cls, one: Array, other: Array, share: float) -> Sample:
        """Rows of `one` weigh `share` (0 to 1) together, those of `other` the rest; what weighs may not be empty."""
        weights = [np.full(len(rows), part / max(len(rows), 1)) for rows, part in ((one, share), (other, 1 - share))]
        return cls(np.concatenate([one, other]), np.concatenate(weights))


def distances(one: Array, other: Array) -> Array:
    """Euclidean distances: a row for each of `one`, a column for each of `other`."""
    squares = (one**2).sum(1)[:, None] + (other**2).sum(1)[None, :] - 2 * one @ other.T
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def energy_distance(one: Sample, other: Sample) -> float:
    """The energy distance, 0 or more, up to rounding."""
    between = one.weights @ distances(one.points, other.points) @ other.weights
    within = [sample.weights @ _own(sample.points) @ sample.weights for sample in (one, other)]
    return float(2 * between - within[0] - within[1])


def _own(points: Array) -> Array:
    found = distances(points, points)
    np.fill_diagonal(found, 0.0)
    return found
