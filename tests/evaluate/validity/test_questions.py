"""Differences of groups and slopes, against scipy and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import linregress, ttest_ind

from ragassay.evaluate.inputs.clusters import clusters_of_rows
from ragassay.evaluate.validity.questions import group_difference, slopes


def test_a_difference_of_groups_is_welch_s_but_for_one_cluster_in_all():
    rng = np.random.default_rng(1)
    values = rng.random((3, 40))
    inside = np.arange(40) < 20
    found = group_difference(values, inside, clusters_of_rows([str(n) for n in range(40)]))
    for row, value, error in zip(values, found.value, found.error, strict=True):
        test = ttest_ind(row[inside], row[~inside], equal_var=False)
        assert value == pytest.approx(row[inside].mean() - row[~inside].mean())
        assert error == pytest.approx(value / test.statistic * np.sqrt(40 / 39 * 19 / 20))


def test_questions_asked_twice_of_a_section_decide_no_more_than_once():
    values, inside = np.random.default_rng(2).random((2, 30)), np.arange(30) % 2 == 0
    once = clusters_of_rows([str(n) for n in range(30)])
    twice = clusters_of_rows([str(n) for n in (*range(30), *range(30))])
    x = values[0] + 0.1
    for function, second in ((group_difference, inside), (slopes, x)):
        one = function(values, second, once)
        two = function(np.tile(values, 2), np.tile(second, 2), twice)
        np.testing.assert_allclose([two.value, two.error, two.df], [one.value, one.error, one.df], atol=1e-12)


def test_a_slope_is_scipy_s_and_its_interval_that_of_a_jackknife():
    rng = np.random.default_rng(3)
    x, y = rng.random(25), rng.random(25)
    found = slopes(y[None], x, clusters_of_rows([f"{n:02}" for n in range(25)]))
    assert found.value[0] == pytest.approx(linregress(x, y).slope)
    left = [linregress(np.delete(x, n), np.delete(y, n)).slope for n in range(25)]
    assert found.error[0] == pytest.approx(np.sqrt(24 / 25 * ((np.array(left) - found.value[0]) ** 2).sum()))
    assert np.isnan(slopes(y[None], np.ones(25), clusters_of_rows(["a"] * 25)).value[0])


def test_an_interval_of_unlike_slopes_holds_the_truth_about_as_often_as_it_says():
    rng, held = np.random.default_rng(4), 0
    for _ in range(100):
        sections = np.repeat(np.arange(12), 3)
        x = rng.random(36)
        y = 0.5 * x + rng.normal(0, 0.2, 12)[sections] + rng.normal(0, 0.2, 36)
        (figure,) = slopes(y[None], x, clusters_of_rows([f"{s:02}" for s in sections])).figures()
        held += figure.ci_low <= 0.5 <= figure.ci_high
    assert 0.9 <= held / 100 <= 0.99
