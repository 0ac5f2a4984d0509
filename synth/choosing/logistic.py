"""Logistic regression with a ridge, which tells two classes apart by their features: many of them at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .energy_distance import Array

STEPS, HALVINGS = 50, 20
ENOUGH = 1e-7
"""Steps below which a fit has come to its end."""


def fit_logistic(points: Array, positive: npt.NDArray[np.bool_], times: Array, ridge: float = 1.0) -> Array:
    """The intercept and a coefficient a column, for each fit: where |w|²·ridge/2 + the sum of log losses is least.

    points: (fits, rows, columns). positive: (rows,). times: (fits, rows), how often each row counts in each fit. Both
    classes weigh the same, whatever their sizes (n / (2 n_class); scikit-learn's class_weight="balanced"). The
    intercept is not penalised. Newton's method, with half steps where a whole one does not help. Gives (fits,
    columns + 1).
    """
    columns = np.concatenate([np.ones((*points.shape[:2], 1)), points], 2)
    y = positive.astype(float)
    weights = _balanced(times, y)
    penalty = np.full(columns.shape[2], ridge)
    penalty[0] = 0.0
    found = np.zeros((len(columns), columns.shape[2]))
    for _ in range(STEPS):
        step = _newton(found, columns, y, weights, penalty)
        now = _loss(found, columns, y, weights, penalty)
        for _ in range(HALVINGS):
            worse = _loss(found - step, columns, y, weights, penalty) > now + 1e-9
            if not worse.any():
                break
            step[worse] /= 2
        found = found - step
        if np.abs(step).max() < ENOUGH:
            break
    return found


def _balanced(times: Array, y: Array) -> Array:
    n = times.sum(1, keepdims=True)
    n_positive = (times @ y)[:, None]
    of_class = np.where(y > 0, n_positive, n - n_positive)
    return np.asarray(times * n / (2 * np.maximum(of_class, 1)))


def _newton(found: Array, columns: Array, y: Array, weights: Array, penalty: Array) -> Array:
    margin = np.clip((columns @ found[:, :, None])[:, :, 0], -500, 500)
    p = 1 / (1 + np.exp(-margin))
    slope = ((weights * (p - y))[:, None, :] @ columns)[:, 0] + penalty * found
    curve = (columns * (weights * p * (1 - p))[:, :, None]).transpose(0, 2, 1) @ columns + np.diag(penalty + 1e-12)
    return np.asarray(np.linalg.solve(curve, slope[:, :, None])[:, :, 0])


def _loss(found: Array, columns: Array, y: Array, weights: Array, penalty: Array) -> Array:
    margin = (columns @ found[:, :, None])[:, :, 0]
    return np.asarray((weights * (np.logaddexp(0, margin) - y * margin)).sum(1) + found**2 @ penalty / 2)
