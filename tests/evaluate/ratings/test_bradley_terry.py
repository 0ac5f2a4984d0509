"""The probability of being the best and the expected loss, by another sampler and by closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.ratings.bradley_terry import SPREAD, best_of, common_variance

NAMED = {
    "apart": ([0.62, 0.53, 0.46, 0.39], 0.0005),
    "in its noise": ([0.53, 0.51, 0.49, 0.47], 0.004),
    "two in front": ([0.59, 0.58, 0.43, 0.40], 0.001),
    "two alone": ([0.66, 0.34], 0.015),
}


def sampled(means: np.ndarray, variance: float, draws: int = 200_000) -> tuple[np.ndarray, float]:
    """True means normal around one mean, half-Cauchy their spread; those seen normal around them: by weighting."""
    generator, size = np.random.default_rng(11), len(means)
    spread = SPREAD * np.abs(np.tan(np.pi * (generator.random(draws) - 0.5)))
    centred = means - means.mean()
    total = variance + spread**2
    weight = np.exp(-0.5 * ((size - 1) * np.log(total) + (centred**2).sum() / total))
    kept = (spread**2 / total)[:, None]
    level = kept * centred + np.sqrt(kept * variance) * generator.standard_normal((draws, size))
    chances = np.array([weight[level.argmax(axis=1) == at].sum() for at in range(size)]) / weight.sum()
    return chances, float((weight * (level.max(axis=1) - level[:, 0])).sum() / weight.sum())


@pytest.mark.parametrize("name", NAMED)
def test_another_sampler_finds_the_same_chances_and_loss(name: str) -> None:
    means, variance = np.array(NAMED[name][0]), NAMED[name][1]
    chances, loss = best_of(means, variance)
    theirs, lost = sampled(means, variance)
    assert chances.sum() == pytest.approx(1)
    assert chances.tolist() == pytest.approx(theirs.tolist(), abs=0.01)
    assert loss == pytest.approx(lost, rel=0.05, abs=1e-4)


def test_of_two_far_apart_the_loss_is_nothing_or_the_gap() -> None:
    variance = 1e-5
    assert best_of(np.array([0.9, 0.1]), variance)[1] < 1e-6
    assert best_of(np.array([0.1, 0.9]), variance)[1] == pytest.approx(0.8, rel=0.01)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12), st.floats(1e-6, 0.1))
def test_more_points_are_never_less_likely_the_best(means: list[float], variance: float) -> None:
    chances, loss = best_of(np.array(sorted(means, reverse=True)), variance)
    assert (np.diff(chances) <= 1e-12).all() and chances.sum() == pytest.approx(1) and loss >= 0


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8), st.floats(1e-5, 0.1))
def test_equal_means_are_equally_likely_and_a_shift_changes_nothing(means: list[float], variance: float) -> None:
    level = best_of(np.full(len(means), 0.4), variance)[0]
    assert level.tolist() == pytest.approx([1 / len(means)] * len(means))
    one, other = best_of(np.array(means), variance), best_of(np.array(means) + 0.25, variance)
    assert one[0].tolist() == pytest.approx(other[0].tolist(), abs=1e-6)


def test_the_common_variance_is_that_of_a_contrast() -> None:
    """Of means with covariance s (I (1 - r) + r) each contrast has s (1 - r)."""
    residuals = np.linalg.cholesky(0.04 * (0.7 * np.eye(4) + 0.3)) @ np.linalg.qr(np.ones((4, 4)) + np.eye(4))[0]
    assert common_variance(residuals, 4) == pytest.approx(0.04 * 0.7 * 4 / 3)
