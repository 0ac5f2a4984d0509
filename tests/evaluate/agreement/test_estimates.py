"""Intervals and p-values: scipy's where pairs stand alone, permutations of whole clusters where they do not."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr, t

from ragassay.evaluate.agreement.coefficients import crosstab, kappa
from ragassay.evaluate.agreement.estimates import Found, Sample, bootstrap_interval, permutation_p, rank_p
from ragassay.evaluate.inputs.clusters import clusters_of_rows


def values(text: str) -> np.ndarray:
    return np.array([float(label) for label in text])


def of_clusters(n_clusters: int, each: int):
    return clusters_of_rows([f"c{place // each}" for place in range(n_clusters * each)])


def test_pairs_that_stand_alone_have_scipys():
    x, y = values("0121022101"), values("0112012202")
    expected = {"tau_b": kendalltau(x, y).pvalue, "rho": spearmanr(x, y).pvalue}
    assert rank_p(x, y, clusters_of_rows(list("abcdefghij"))) == pytest.approx(expected, rel=1e-5)


def test_of_few_clusters_it_is_students_and_on_fishers_scale_where_it_is_bounded():
    """Resamples without tails, so that no percentile lies farther out; five clusters correct their spread by 5 / 4."""
    replicates = np.linspace(-0.2, 0.2, 1001)
    reach = t.ppf(0.975, 4) * replicates.std() * np.sqrt(5 / 4)
    assert bootstrap_interval(0.0, replicates, 5, bounded=False) == pytest.approx((-reach, reach))
    ends = np.tanh(np.arctanh(0.5) + np.array([-1, 1]) * reach / (1 - 0.5**2))
    assert bootstrap_interval(0.5, 0.5 + replicates, 5, bounded=True) == pytest.approx(tuple(ends))
    assert bootstrap_interval(0.0, np.zeros(100), 10, bounded=True) == (None, None)


def test_kappa_at_few_labels_and_a_near_perfect_judge_is_covered():
    """Kappa .96, 30 labels, where the percentile interval covers under half: the bar is 93%, less 2 standard errors."""
    generator, found = np.random.default_rng(5), Found(30, 0)
    for seed in range(150):
        human = generator.integers(0, 2, 30)
        judge = np.where(generator.random(30) < 0.02, 1 - human, human)
        table = crosstab(human, judge, np.arange(30), 2)
        Sample.of_pairs(table, 200, seed).figure(found, f"kappa {seed}", kappa, "all labels are equal")
    ends = [(figure.ci_low, figure.ci_high) for figure in found.figures.values()]
    covered = sum(low is not None and high is not None and low <= 0.96 <= high for low, high in ends)
    assert covered / 150 > 0.93 - 2 * (0.93 * 0.07 / 150) ** 0.5


def test_a_cluster_of_equal_labels_counts_once():
    """Four clusters of ten rows that are all alike: the p is that of all 24 orders of four labels, not of 40 rows."""
    one, other = [0, 1, 2, 3], [0, 1, 3, 2]
    x, y = (np.repeat(np.array(side, dtype=np.float64), 10) for side in (one, other))
    orders = [kendalltau(one, order).statistic for order in permutations(other)]
    exact = np.mean([abs(tau) >= kendalltau(one, other).statistic - 1e-9 for tau in orders])
    found = permutation_p(x, y, of_clusters(4, 10), draws=9999)
    assert found["tau_b"] == pytest.approx(exact, abs=0.02)
    assert kendalltau(x, y).pvalue < 1e-4


def test_values_too_many_for_labels_are_permuted_too():
    x = np.arange(60.0)
    assert permutation_p(x, x**2, of_clusters(20, 3), draws=99) == {"tau_b": 0.01, "rho": 0.01}


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 4)), min_size=6, max_size=40), st.randoms()
)
def test_neither_the_order_of_rows_nor_names_change_it(rows, random):
    def p(rows, name):
        x, y, cluster = zip(*rows, strict=True)
        return rank_p(np.array(x, float), np.array(y, float), clusters_of_rows([name(number) for number in cluster]))

    shuffled = random.sample(rows, len(rows))
    found = p(rows, str)
    assert found == p(shuffled, lambda number: f"query {9 - number}")
    assert all(0 < value <= 1 for value in found.values())


def test_of_one_cluster_and_of_labels_all_alike_there_is_none():
    x = values("012012")
    assert rank_p(x, x, of_clusters(1, 6)) == {}
    assert rank_p(x, np.ones(6), of_clusters(3, 2)) == {}


@pytest.mark.parametrize("sizes", [[6] * 12, [1, 2, 3, 4, 9, 9, 12, 14, 1, 2, 7, 20]])
def test_raters_with_nothing_in_common_but_clusters_are_seldom_called(sizes):
    """Labels hang together by .8 within clusters: scipy's p is below 5% in far more than 5%, ours is not."""
    generator = np.random.default_rng(3)
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    called = np.zeros(2)
    for _ in range(100):
        x, y = (
            np.digitize(
                generator.normal(size=len(sizes))[cluster] * 2 + generator.normal(size=len(cluster)), [0.0, 1.5]
            )
            for _ in range(2)
        )
        ours = permutation_p(x.astype(float), y.astype(float), clusters_of_rows(cluster.astype(str).tolist()), draws=99)
        called += np.array([ours["tau_b"], kendalltau(x, y).pvalue]) <= 0.05
    assert called[0] <= 11 and called[1] >= 20, called
