"""How many labels are needed: closed forms, and more of them where the judge is worse or the wish is narrower."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from ragassay.evaluate.statistics.power import labels_needed, needed_for
from ragassay.evaluate.statistics.ppi import Sample


def _pilot(agree: float, n: int = 2000, labels: int = 50) -> Sample:
    generator = np.random.default_rng(3)
    truth = (generator.random(n) < 0.7).astype(float)
    judged = np.where(generator.random(n) < agree, truth, 1 - truth)
    human = np.where(np.arange(n) < labels, truth, np.nan)
    return Sample(np.arange(n), judged, human, np.ones(n), 0.0, 1.0)


def test_a_useless_judge_needs_the_textbooks_sample() -> None:
    """1.96^2 p (1 - p) / d^2 = 384.1 for p = 0.5, d = 0.05; all variance is within, no item's share is known better."""
    assert needed_for(0.25, 0.25, 10**9, 0.05) == pytest.approx(384.1, abs=0.1)


def test_what_the_judge_explains_is_told_by_all_items() -> None:
    """The variance of the corrected mean, within / n + (spread - within) / N, is that of the wished half-width."""
    n = needed_for(0.1, 0.25, 2000, 0.05)
    assert 0.1 / n + 0.15 / 2000 == pytest.approx((0.05 / 1.959964) ** 2, rel=1e-6)


def test_more_than_there_are_is_not_with_these_items() -> None:
    assert needed_for(0.25, 0.25, 300, 0.05) == inf
    assert needed_for(0.0, 0.25, 300, 0.05) == inf
    found = labels_needed(_pilot(0.8, n=100), 0.02, 1)
    assert (found.value, found.ci_high) == (None, None)


def test_a_worse_judge_and_a_narrower_wish_need_more() -> None:
    good, poor = labels_needed(_pilot(0.95), 0.05, 1), labels_needed(_pilot(0.6), 0.05, 1)
    assert (good.value or 0) < (poor.value or 0)
    assert (good.value or 0) < (labels_needed(_pilot(0.95), 0.04, 1).value or 0)


def test_a_pilot_on_which_all_agree_still_leaves_an_interval() -> None:
    found = labels_needed(_pilot(1.0), 0.05, 1)
    assert found.ci_low is not None and found.ci_high is not None
    assert 1 <= found.ci_low < 5 < found.ci_high < 150


def test_a_half_width_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        labels_needed(_pilot(0.9), 0.0, 1)
