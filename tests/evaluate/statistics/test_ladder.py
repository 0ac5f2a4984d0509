"""Holm from the leader, against scipy's tests and statsmodels' way of stepping down, by hand and by property."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, permutation_test, ttest_rel
from scipy.stats import t as student

from ragassay.evaluate.inputs.clusters import Clusters, clusters_of_rows
from ragassay.evaluate.statistics.ladder import LEVEL, Look, bounds, holm_from_leader, spent, whole_sections


def alone(n: int) -> Clusters:
    return clusters_of_rows([f"{at:03d}" for at in range(n)])


def ranked(values: np.ndarray) -> np.ndarray:
    return values[np.argsort(-np.nanmean(values, axis=1), kind="stable")]


@pytest.mark.parametrize("seed", range(5))
def test_of_two_it_tells_where_scipys_t_and_its_flips_both_do(seed):
    rng = np.random.default_rng(seed)
    values = ranked(np.stack([rng.integers(0, 61, 14) / 60, rng.integers(0, 45, 14) / 60]))
    by_t = ttest_rel(*values, alternative="greater").pvalue
    flips = permutation_test((values[0] - values[1],), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    found = holm_from_leader(values, alone(14), 7)
    p = max(by_t, flips / 2) if by_t <= LEVEL / 2 else by_t
    assert found.p[0] == pytest.approx(p, rel=1e-4)
    assert found.told[0] == (p <= 0.0225)


def test_each_step_has_its_own_level_and_the_first_that_fails_ends_it():
    """Of four others the smallest p is held to .01125, then .015, then .0225 twice."""
    levels = [LEVEL / 4, LEVEL / 3, LEVEL / 2, LEVEL / 2]
    rng = np.random.default_rng(3)
    seen = [False] * 5
    for _ in range(100):
        values = ranked(rng.normal(0.5 - 0.02 * np.arange(5)[:, None], 0.1, (5, 40)))
        found = holm_from_leader(values, alone(40), 7)
        order, told = np.argsort(found.p, kind="stable"), 0
        while told < 4 and found.p[order[told]] <= levels[told]:
            told += 1
        hand = np.isin(np.arange(4), order[:told])
        worst = max(np.flatnonzero(~hand), default=-1)
        assert found.told.tolist() == [bool(one and at > worst) for at, one in enumerate(hand)]
        seen[told] = True
    assert all(seen)


def test_the_interval_is_students_at_the_ladders_level():
    rng = np.random.default_rng(5)
    values = ranked(rng.normal([[0.6], [0.55], [0.5], [0.5]], 0.2, (4, 30)))
    found = holm_from_leader(values, alone(30), 7)
    gaps = values[0] - values[1:]
    reach = student.ppf(1 - LEVEL / 3, 29) * gaps.std(axis=1, ddof=1) / np.sqrt(30)
    assert found.high == pytest.approx(gaps.mean(axis=1) + reach)
    low = gaps.mean(axis=1) - reach
    assert found.low == pytest.approx(np.where(found.told, np.maximum(low, 0), np.minimum(low, 0)))


def test_what_failed_counts_against_the_leader():
    rng = np.random.default_rng(4)
    other = rng.uniform(0.3, 0.7, 30)
    leader = other + 0.1
    leader[::2] = np.nan
    values = np.stack([leader, other])
    assert holm_from_leader(values, alone(30), 7).told.tolist() == [True]
    worst = np.where(np.isnan(leader), 0.0, leader) - other
    found = holm_from_leader(values, alone(30), 7, worst[None])
    assert found.told.tolist() == [False] and found.low[0] < 0 < found.high[0]
    assert (found.n, found.n_failed) == ([15], [15])


@pytest.mark.parametrize(("n", "told"), [(5, False), (6, True)])
def test_six_sections_that_all_say_the_same_suffice_and_five_do_not(n, told):
    found = holm_from_leader(np.array([[0.8] * n, [0.5] * n]), alone(n), 7)
    assert found.told.tolist() == [told] and (found.p.tolist() == [1.0]) == (not told)
    assert found.low[0] <= 0.3 <= found.high[0] < 1


@given(st.integers(0, 10_000), st.integers(2, 7), st.integers(2, 40), st.integers(1, 4))
def test_who_is_told_ranks_below_all_who_are_not_and_their_intervals_are_beyond_0(seed, k, n, per_section):
    rng = np.random.default_rng(seed)
    values = np.clip(rng.normal(0.5 - 0.05 * np.arange(k)[:, None], 0.2, (k, n)), 0, 1)
    values[rng.random(values.shape) < 0.05] = np.nan
    if np.isnan(values).all(axis=1).any():
        return
    sections = clusters_of_rows([f"{at // per_section:03d}" for at in range(n)])
    found = holm_from_leader(ranked(values), sections, 7)
    assert found.told.tolist() == sorted(found.told.tolist())
    assert found.told.tolist() == (found.adjusted <= 0.05).tolist()
    known = ~np.isnan(found.low)
    assert ((found.low >= 0) == found.told)[known & (found.low != 0)].all()
    assert (found.low <= found.difference)[known].all() and (found.difference <= found.high)[known].all()


def test_queries_of_a_section_count_as_one_that_repeats_itself():
    rng = np.random.default_rng(9)
    once = ranked(rng.choice([0, 0.5, 1], (3, 20)))
    thrice = np.repeat(once, 3, axis=1)
    sections = clusters_of_rows([f"{at // 3:03d}" for at in range(60)])
    one, other = holm_from_leader(once, alone(20), 7), holm_from_leader(thrice, sections, 7)
    assert other.difference == pytest.approx(one.difference)
    assert (other.told == one.told).all()


def test_who_was_told_at_an_earlier_look_stays_told_and_the_next_step_is_the_easier_one():
    """One-sided p between the levels of the first and of the last of two steps, by the t-test."""
    gap = np.r_[np.ones(21), -np.ones(9), np.zeros(30)] / 2
    values = np.stack([np.full(60, 0.5), 0.5 - gap, np.full(60, 0.5)])
    assert 0.0225 / 2 < ttest_rel(values[0], values[1], alternative="greater").pvalue < 0.0225
    fresh = holm_from_leader(values, alone(60), 7)
    later = holm_from_leader(values, alone(60), 7, before=np.array([False, True]))
    assert not fresh.told.any() and later.told.all()


QUARTERS = (0.25, 0.5, 0.75, 1.0)


def test_the_bounds_of_obrien_and_fleming_are_the_published_ones() -> None:
    """Five looks at one-sided 2.5%: Reboussin, DeMets, Kim and Lan, Controlled Clinical Trials 21(3), 2000, as in
    gsDesign's and ldbounds' manuals."""
    told = bounds(0.025, (0.2, 0.4, 0.6, 0.8, 1.0), "obrien-fleming")
    assert norm.isf(told) == pytest.approx([4.8769, 3.3569, 2.6803, 2.2898, 2.0310], abs=5e-4)


def test_a_single_look_has_the_whole_level_and_a_first_one_what_is_spent() -> None:
    assert bounds(0.0225, (1.0,)) == pytest.approx((0.0225,), rel=1e-6)
    assert bounds(0.0225, QUARTERS)[0] == pytest.approx(0.0225 / 16, rel=1e-6)


def test_paths_cross_as_often_as_the_level_says() -> None:
    steps = np.random.default_rng(7).standard_normal((400_000, 4)) / 2
    z = steps.cumsum(axis=1) / np.sqrt(QUARTERS)
    for spending in ("kim-demets", "obrien-fleming"):
        crossed = (z > norm.isf(bounds(0.0225, QUARTERS, spending))).cumsum(axis=1) > 0
        wanted = [spent(0.0225, fraction, spending) for fraction in QUARTERS]
        assert crossed.mean(axis=0) == pytest.approx(wanted, abs=8e-4), "three standard errors"


def test_where_the_sizes_of_later_parts_are_not_known_paths_cross_as_often_as_looks_say() -> None:
    """Parts of whole sections, of which each yields what it yields: the bounds know those so far and no other."""
    sizes, level = (9, 6, 12, 3), 0.0225
    ends = np.cumsum(sizes)
    guessed = [(*ends[: at + 1], *(ends[at] + 9 * np.arange(1, 4 - at))) for at in range(4)]
    found = [Look(tuple(map(int, one)), at, by_look=True).bound(level) for at, one in enumerate(guessed)]
    other = [Look(tuple(map(int, (*ends[: at + 1], *range(900, 903 - at)))), at, by_look=True) for at in range(4)]
    assert found == [one.bound(level) for one in other], "what is guessed of later parts does not matter"
    steps = np.random.default_rng(7).standard_normal((400_000, 4)) * np.sqrt(sizes)
    crossed = (steps.cumsum(axis=1) / np.sqrt(ends) > norm.isf(found)).cumsum(axis=1) > 0
    assert crossed.mean(axis=0) == pytest.approx([spent(level, look / 4) for look in (1, 2, 3, 4)], abs=8e-4)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.floats(0.001, 0.05))
def test_parts_of_one_size_have_the_bounds_of_a_plan_that_is_known(sizes: list[int], level: float) -> None:
    ends = tuple(sizes[0] * at for at in range(1, len(sizes) + 1))
    for at in range(len(ends)):
        assert Look(ends, at, by_look=True).bound(level) == pytest.approx(Look(ends, at).bound(level), rel=1e-6)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.floats(0.001, 0.05))
def test_no_bound_is_above_what_is_spent_and_the_last_look_has_most(steps: list[int], level: float) -> None:
    ends = tuple(np.cumsum(steps).tolist())
    found = [Look(ends, at).bound(level) for at in range(len(ends))]
    used = [spent(level, end / ends[-1]) for end in ends]
    new = np.diff([0.0, *used])
    assert all(one <= most * (1 + 1e-6) for one, most in zip(found, used, strict=True))
    assert all(one >= least * (1 - 1e-6) for one, least in zip(found, new, strict=True)), "a look alone spends its part"


@pytest.mark.parametrize("fractions", [(), (0.5, 0.5), (0.5, 0.2), (0.5, 1.1), (0.0, 1.0)])
def test_fractions_must_rise_to_one(fractions: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="rise"):
        bounds(0.05, fractions)


@given(st.lists(st.integers(1, 20), min_size=1, max_size=60), st.integers(2, 20))
def test_looks_are_at_the_ends_of_sections_and_the_last_has_all(sizes: list[int], looks: int) -> None:
    ends = whole_sections(sizes, looks)
    assert set(ends) <= set(np.cumsum(sizes).tolist()) and ends[-1] == sum(sizes)
    assert list(ends) == sorted(set(ends)) and len(ends) <= looks
