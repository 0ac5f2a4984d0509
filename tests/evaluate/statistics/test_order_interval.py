"""The interval of how far two orders agree: it holds a known truth, which the percentiles of resamples do not."""

from __future__ import annotations

import numpy as np
import pytest

from ragassay.evaluate.statistics.orders import Means, order_intervals, tau_b


def sampled(true: np.ndarray, n: int, generator: np.random.Generator) -> Means:
    values = true[:, None] + generator.normal(0, 0.3, (len(true), n))
    weights = generator.multinomial(n, np.full(n, 1 / n), size=200)
    return Means(values.mean(axis=1), weights @ values.T / n, n)


@pytest.mark.parametrize(("other", "truth"), [(np.arange(6), 1.0), (np.arange(6)[::-1], -1.0)])
def test_it_holds_the_truth_where_the_true_orders_are_the_same_or_turned(other, truth):
    """40 queries, agents .05 apart: the percentiles hold it in under half of the experiments."""
    generator, held, percentiles = np.random.default_rng(4), 0, 0
    for seed in range(60):
        one, two = sampled(0.05 * np.arange(6), 40, generator), sampled(0.05 * other, 40, generator)
        low, high = order_intervals(one, two, {"tau": tau_b}, 1.0, seed)["tau"]
        assert low is not None and high is not None and -1 <= low <= float(tau_b(one.means, two.means)) <= high <= 1
        held += low <= truth + 1e-9 and high >= truth - 1e-9
        ends = np.quantile(tau_b(one.drawn, two.drawn), [0.025, 0.975])
        percentiles += bool(ends[0] <= truth + 1e-9 and ends[1] >= truth - 1e-9)
    assert held >= 56 and percentiles < 40


def test_many_queries_leave_little_open():
    generator = np.random.default_rng(5)
    one, two = (sampled(0.1 * np.arange(6), 4000, generator) for _ in range(2))
    low, high = order_intervals(one, two, {"tau": tau_b}, 1.0, 7)["tau"]
    assert low == high == 1
    turned = Means(-two.means, -two.drawn, two.n_units)
    assert order_intervals(one, turned, {"tau": tau_b}, 1.0, 7)["tau"] == (-1, -1)


def test_without_spread_or_with_one_section_there_is_none():
    means = np.array([0.2, 0.4, 0.6])
    still = Means(means, np.tile(means, (50, 1)), 5)
    assert order_intervals(still, still, {"tau": tau_b}, 1.0, 7) == {"tau": (None, None)}
    generator = np.random.default_rng(6)
    one = sampled(means, 20, generator)
    alone = Means(one.means, one.drawn, 1)
    assert order_intervals(one, alone, {"tau": tau_b}, 1.0, 7) == {"tau": (None, None)}


def test_a_resample_without_any_value_of_an_agent_takes_no_part():
    generator = np.random.default_rng(6)
    one, two = (sampled(np.array([0.2, 0.4, 0.6]), 30, generator) for _ in range(2))
    holed = one.drawn.copy()
    holed[::7, 1] = np.nan
    low, high = order_intervals(Means(one.means, holed, 30), two, {"tau": tau_b}, 1.0, 7)["tau"]
    assert low is not None and high is not None and low <= high
