"""What may be spent at each look, held against published bounds, simulated paths, and what must hold of any plan."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from ragassay.evaluate.statistics.spending import Look, bounds, spent, whole_sections

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
