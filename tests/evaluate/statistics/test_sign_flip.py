"""The sign-flip test of many sums: by exact counting and by the binomial test, far into the tails as well."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.statistics import sign_flip
from ragassay.evaluate.statistics.sign_flip import flip_p, flip_p_of_rows, flip_ps, sign_flip_p, tilted_tail


def by_counting(sums):
    """How many choices of signs lead to each total, in whole numbers."""
    sizes = [abs(value) for value in sums]
    ways = np.zeros(2 * sum(sizes) + 1, dtype=object)
    ways[sum(sizes)] = 1
    for size in sizes:
        ways = np.roll(ways, size) + np.roll(ways, -size)
    far = np.abs(np.arange(len(ways)) - sum(sizes)) >= abs(sum(sums))
    return float(Fraction(int(ways[far].sum()), 2 ** len(sizes)))


SIZES = [(1, 2), (12, 15, 20, 30, 60), (7,), (4, 6, 50), (1, *[60] * 99), (3, *[2] * 40)]


@given(st.integers(90, 160), st.floats(0, 1), st.sampled_from(SIZES))
def test_sign_flips_of_many_sections_are_exact_in_both_tails(n, share, sizes):
    generator = np.random.default_rng(n)
    sums = (generator.choice(sizes, n) * np.where(generator.random(n) < share, 1, -1)).tolist()
    assert sign_flip_p(sums) == pytest.approx(by_counting(sums), rel=1e-5)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=9, unique=True), st.integers(1, 40), st.floats(1e-3, 0.2))
def test_a_tail_from_a_few_frequencies_is_that_of_the_convolved_chances(sizes, each, tilt):
    """Whatever the sizes have in common: either the tail, or nothing."""
    sizes, chances = np.sort(sizes), np.ones(1)
    often = np.full(len(sizes), each)
    ahead = 1 / (1 + np.exp(-2 * tilt * sizes))
    for size, p in np.repeat(np.stack([sizes, ahead], axis=1), often, axis=0):
        wider = np.zeros(len(chances) + int(size))
        wider[: len(chances)] += chances * (1 - p)
        wider[int(size) :] += chances * p
        chances = wider
    least = round(float(often @ (sizes * ahead)))
    expected = chances[least:] @ np.exp(-2 * tilt * np.arange(len(chances) - least))
    found = tilted_tail(sizes, often, tilt, least)
    assert found is None or found == pytest.approx(expected, rel=1e-8)


def test_what_a_few_frequencies_do_not_give_is_convolved_to_the_same(monkeypatch):
    ranks = np.array([3, 5, 8, 10, 12, 15, 18, 20, 30, 60])
    assert tilted_tail(ranks, np.full(10, 40), 0.01, round(sum(40 * ranks / (1 + np.exp(-0.02 * ranks))))) is not None
    assert tilted_tail(np.array([1, 6000]), np.array([50, 400]), 1e-4, 1_400_000) is None
    sums = np.random.default_rng(3).choice([-30, -15, 12, 20, 60], 150)
    p = sign_flip_p(sums)
    monkeypatch.setattr(sign_flip, "tilted_tail", lambda *_: None)
    assert sign_flip_p(sums) == p


def test_many_rows_are_tested_as_each_by_itself():
    generator = np.random.default_rng(5)
    rows = np.stack([generator.normal(size=30), generator.integers(-2, 3, 30), np.zeros(30), generator.normal(size=30)])
    rows[3, :20] = 0.0
    assert flip_ps(rows, 7) == [flip_p(row, 7) for row in rows]
    assert flip_ps(rows[:2], 7)[0] == flip_ps(np.stack([rows[1], rows[0], 2 * rows[0]]), 7)[1]


@pytest.mark.parametrize(("ahead", "behind"), [(4100, 3900), (7000, 1000), (600, 0), (500, 500)])
def test_many_sums_of_one_size_are_a_binomial_test(ahead, behind):
    p = sign_flip_p([12] * ahead + [-12] * behind)
    assert p == pytest.approx(binomtest(ahead, ahead + behind).pvalue, rel=1e-5, abs=0)


def test_rows_of_one_cluster_are_one_observation():
    clusters = Clusters.named(["q1", "q2", "q3"], ["s", "s", "t"])
    assert flip_p_of_rows([("q1", 1), ("q2", 1), ("q1", 1), ("q3", -1)], clusters) == sign_flip_p([3, -1])
    assert flip_p_of_rows([], clusters) is None


def test_drawn_signs_count_the_data_themselves():
    """Phipson and Smyth 2010: no p from 9,999 draws is below 1 in 10,000."""
    assert flip_p(np.sqrt(np.arange(2.0, 42.0)), 7) == 1e-4


def test_drawn_signs_come_near_all_choices_of_signs():
    sums = np.sqrt(np.arange(2.0, 20.0)) * np.where(np.arange(18) % 3, 1, -1)
    choices = np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums)) & 1
    exact = (np.abs((1 - 2.0 * choices) @ sums) >= sums.sum() - 1e-9).mean()
    assert abs(flip_p(sums, 7) - exact) < 4 * np.sqrt(exact * (1 - exact) / 9999)
    assert flip_p(sums[:14], 7) == flip_p(sums[:14], 8), "few enough to be counted"
    assert flip_p(sums, 7) != flip_p(sums, 8) and flip_p(sums, 7) == flip_p(sums[::-1], 7)
