"""Who goes on: the baseline, the best, what is cheaper and as good, the next by quality, and nobody twice."""

from __future__ import annotations

import numpy as np
from support.screenings import screening

from ragassay.evaluate.screening.screen import screen_results

RNG = np.random.default_rng(5)
EVEN = np.clip(RNG.normal(0.5, 0.2, (30, 40)) - 0.01 * np.arange(30)[:, None], 0, 1)


def names(screened, **given):
    return screen_results(screened, **given).finalists


def by_quality(values):
    return [f"v{at:02d}" for at in np.argsort(-values.mean(axis=1), kind="stable")]


def test_without_costs_they_are_the_best_by_quality():
    assert list(names(screening(EVEN))) == by_quality(EVEN)[:6]
    assert list(names(screening(EVEN), places=3)) == by_quality(EVEN)[:3]


def test_the_baseline_has_a_place_however_bad_it_is():
    assert list(names(screening(EVEN), baseline="v29")) == ["v29", *by_quality(EVEN)[:5]]
    assert names(screening(EVEN), baseline="v29", places=1) == ("v29",)


def test_one_that_finds_the_same_as_a_finalist_takes_no_place():
    order = by_quality(EVEN)
    double = np.vstack([EVEN, EVEN[[int(order[0][1:])]] - 1e-9])
    assert list(names(screening(double))) == order[:6]
    assert len(names(screening(np.repeat(EVEN[:2], 10, axis=0)))) == 2


def test_what_is_cheaper_and_not_told_to_be_worse_has_a_place_and_what_is_told_has_none():
    latency = np.full(30, 1.0)
    cheap_and_bad = 29
    latency[cheap_and_bad] = 0.01
    order = by_quality(EVEN)
    near = int(order[8][1:])
    latency[near] = 0.1
    values = EVEN.copy()
    values[cheap_and_bad] = np.maximum(values[cheap_and_bad] - 0.3, 0)
    found = names(screening(values, latency_s=latency))
    assert f"v{near:02d}" in found and "v29" not in found
    assert [name for name in order if name in found][:5] == order[:5]


def test_what_fails_on_most_queries_does_not_go_on():
    values = EVEN.copy()
    values[7] = 1.0
    values[7, :25] = np.nan
    assert "v07" not in names(screening(values))


def test_one_that_failed_on_the_hard_queries_is_not_ahead_for_that():
    hard = np.tile([0.1, 0.9], 20)
    values = np.stack([hard + 0.02, hard, hard - 0.02, hard])
    values[3, ::2] = np.nan
    found = screen_results(screening(values))
    assert (found.chosen.name, found.variants[3].evidence_recall.value) == ("v00", 0.9)
