"""Logistic regression with a ridge, which tells two classes apart by their features."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .energy_distance import Array

STEPS = 50


def fit_logistic(points: Array, positive: npt.NDArray[np.bool_], ridge: float = 1.0) -> Array:
    """The intercept and a coefficient for each column: where |w|²·ridge/2 + the sum of log losses is least.

    Both classes weigh the same, whatever their sizes (weights of n / (2 n_class) in the sum). The intercept is not
    penalised. Newton's method, with half steps where a whole one does not help.
    """
    n, columns = len(points), np.column_stack([np.ones(len(points)), points])
    y = positive.astype(float)
    weights = np.where(positive, n / (2 * max(y.sum(), 1)), n / (2 * max(n - y.sum(), 1)))
    penalty = np.full(columns.shape[1], ridge)
    penalty[0] = 0.0
    found = np.zeros(columns.shape[1])
    for _ in range(STEPS):
        p = _sigmoid(columns @ found)
        slope = columns.T @ (weights * (p - y)) + penalty * found
        curve = (columns * (weights * p * (1 - p))[:, None]).T @ columns + np.diag(penalty + 1e-12)
        step = np.linalg.solve(curve, slope)
        now = _loss(found, columns, y, weights, penalty)
        while _loss(found - step, columns, y, weights, penalty) > now + 1e-12 and np.abs(step).max() > 1e-10:
            step = step / 2
        found = found - step
        if np.abs(step).max() < 1e-8:
            break
    return found


def _sigmoid(values: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -500, 500))))


def _loss(found: Array, columns: Array, y: Array, weights: Array, penalty: Array) -> float:
    margin = columns @ found
    return float(weights @ (np.logaddexp(0, margin) - y * margin) + penalty @ found**2 / 2)
