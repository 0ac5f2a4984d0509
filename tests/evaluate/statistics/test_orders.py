"""How two orders agree, as scipy has it, the interval that holds a known truth, and what a choice by one loses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from ragassay.evaluate.statistics import orders
from ragassay.evaluate.statistics.orders import Means, order_intervals, tau_b

MEANS = st.lists(st.integers(0, 5), min_size=6, max_size=6).filter(lambda row: len(set(row)) > 1)


@given(MEANS, MEANS)
def test_tau_and_rho_are_scipys_with_ties(one, other):
    a, b = np.array(one) / 7, np.array(other) / 7
    assert orders.tau_b(a, b) == pytest.approx(kendalltau(a, b).statistic)
    assert orders.rho(a, b) == pytest.approx(spearmanr(a, b).statistic)


def test_what_a_choice_loses_and_where_it_stands():
    people = np.array([0.5, 0.7, 0.6, 0.7])
    assert orders.loss(people, np.array([0.1, 0.0, 0.9, 0.2])) == pytest.approx(0.1)
    assert orders.place(people, np.array([0.1, 0.0, 0.9, 0.2])) == 3.0
    assert orders.place(people, people) == 1.5, "two share the first place"
    assert orders.loss(people, np.array([0.9, 0.0, 0.9, 0.2])) == pytest.approx(0.15), "the mean of two that tie"


def sampled(true: np.ndarray, n: int, generator: np.random.Generator) -> Means:
    values = true[:, None] + generator.normal(0, 0.3, (len(true), n))
    weights = generator.multinomial(n, np.full(n, 1 / n), size=200)
    return Means(values.mean(axis=1), weights @ values.T / n, n)


@pytest.mark.parametrize(("other", "truth"), [(np.arange(6), 1.0), (np.arange(6)[::-1], -1.0)])
def test_it_holds_the_truth_where_the_true_orders_are_the_same_or_turned(other, truth):
    """40 queries, agents .05 apart: the percentiles hold it in under half of the experiments."""
    generator, held, percentiles = np.random.default_rng(4), 0, 0
    for seed in range(20):
        one, two = sampled(0.05 * np.arange(6), 40, generator), sampled(0.05 * other, 40, generator)
        low, high = order_intervals(one, two, {"tau": tau_b}, 1.0, seed)["tau"]
        assert low is not None and high is not None and -1 <= low <= float(tau_b(one.means, two.means)) <= high <= 1
        held += low <= truth + 1e-9 and high >= truth - 1e-9
        ends = np.quantile(tau_b(one.drawn, two.drawn), [0.025, 0.975])
        percentiles += bool(ends[0] <= truth + 1e-9 and ends[1] >= truth - 1e-9)
    assert held >= 19 and percentiles < 13


def test_many_queries_leave_little_open():
    generator = np.random.default_rng(5)
    one, two = (sampled(0.1 * np.arange(6), 4000, generator) for _ in range(2))
    low, high = order_intervals(one, two, {"tau": tau_b}, 1.0, 7)["tau"]
    assert low == high == 1
    turned = Means(-two.means, -two.drawn, two.n_units)
    assert order_intervals(one, turned, {"tau": tau_b}, 1.0, 7)["tau"] == (-1, -1)


MEANS_OF_3 = np.array([0.2, 0.4, 0.6])


def test_without_spread_or_with_one_section_there_is_none():
    still = Means(MEANS_OF_3, np.tile(MEANS_OF_3, (50, 1)), 5)
    one = sampled(MEANS_OF_3, 20, np.random.default_rng(6))
    for pair in ((still, still), (one, Means(one.means, one.drawn, 1))):
        assert order_intervals(*pair, {"tau": tau_b}, 1.0, 7) == {"tau": (None, None)}


def test_a_resample_without_any_value_of_an_agent_takes_no_part():
    generator = np.random.default_rng(6)
    one, two = (sampled(MEANS_OF_3, 30, generator) for _ in range(2))
    holed = one.drawn.copy()
    holed[::7, 1] = np.nan
    low, high = order_intervals(Means(one.means, holed, 30), two, {"tau": tau_b}, 1.0, 7)["tau"]
    assert low is not None and high is not None and low <= high
