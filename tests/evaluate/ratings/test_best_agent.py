"""The probability of being the best, by another sampler: all coordinates at once, where the code takes axes apart."""

from __future__ import annotations

import numpy as np
import pytest

from ragassay.evaluate.ratings.best_agent import share_best

NAMED = {
    "apart": ([1.2, 0.3, -0.4, -1.1], 0.05),
    "in its noise": ([0.3, 0.1, -0.1, -0.3], 0.4),
    "two in front": ([0.9, 0.8, -0.7, -1.0], 0.1),
    "two alone": ([1.6, -1.6], 1.5),
}


def sampled(log: np.ndarray, covariance: np.ndarray, n: int) -> np.ndarray:
    """Strengths normal around true ones, and these around their mean, with a half-normal prior of their spread."""
    size, generator = len(log), np.random.default_rng(11)
    centre, steps = np.eye(size) - 1 / size, np.linspace(0.005, 3.0, 60)
    noise = covariance * n / (n - 1)
    weights = []
    for step in steps:
        values, axes = np.linalg.eigh(centre @ noise @ centre + step**2 * centre)
        kept = values > 1e-10
        along = axes[:, kept].T @ (centre @ log)
        weights.append(-0.5 * float((np.log(values[kept]) + along**2 / values[kept]).sum()) - step**2 / 2)
    shares = np.exp(np.array(weights) - max(weights))
    counts = np.zeros(size)
    for step in generator.choice(steps, 2000, p=shares / shares.sum()):
        wide = noise * (n - 1) / generator.chisquare(n - 1)
        gain = step**2 * np.linalg.pinv(centre @ wide @ centre + step**2 * centre, hermitian=True)
        left = step**2 * centre - step**2 * gain @ centre
        values, axes = np.linalg.eigh((left + left.T) / 2)
        luck = axes @ (np.sqrt(np.maximum(values, 0)) * generator.standard_normal(size))
        counts[np.argmax(gain @ centre @ log + luck)] += 1
    return counts / 2000


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("n", [3, 40])
def test_another_sampler_finds_the_same_chances(name: str, n: int) -> None:
    log, variance = np.array(NAMED[name][0]), NAMED[name][1]
    covariance = variance * (np.eye(len(log)) + 0.3 * np.diag([1.0, 0.0, 2.0, 0.5][: len(log)]) - 0.2)
    found = share_best(log, covariance, n, 7)
    assert found.sum() == pytest.approx(1)
    assert found.tolist() == pytest.approx(sampled(log, covariance, n).tolist(), abs=0.03)
