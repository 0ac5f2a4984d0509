"""How two orders agree, as scipy has it, and what a choice by one loses under the other, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from ragassay.evaluate.statistics import orders

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
