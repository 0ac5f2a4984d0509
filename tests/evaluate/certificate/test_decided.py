"""What a certificate decides: of systems with known differences, with sound and with biased written queries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.arrays import Floats
from ragassay.evaluate.certificate.axes import axes_of
from ragassay.evaluate.certificate.decided import LEVEL, MOST_WRONG, decide, within
from ragassay.evaluate.certificate.shrinkage import shrunk
from ragassay.evaluate.inputs.clusters import clusters_of_rows
from ragassay.evaluate.statistics.orders import pairs

WORTHS = np.array([0.5, 0.5, 0.55, 0.62, 0.7, 0.8])
SECTIONS = clusters_of_rows([f"{at // 2:03d}" for at in range(120)])


def values(n: int, seed: int, favour: Floats | float = 0.0) -> Floats:
    rng = np.random.default_rng(seed)
    shared, own = rng.normal(0, 0.3, n), rng.normal(0, 0.2, (len(WORTHS), n))
    found: Floats = np.clip((WORTHS + favour)[:, None] + shared + own, 0, 1)
    return found


def wrong(decided: Floats) -> int:
    first, second = pairs(len(WORTHS))
    return int(((decided != 0) & (decided != np.sign(WORTHS[first] - WORTHS[second]))).sum())


def test_sound_written_queries_decide_more_than_pure_chance_does():
    sound = [decide(values(10, seed), values(120, 100 + seed), SECTIONS) for seed in range(12)]
    chance = np.full((6, 120), 0.5) + np.random.default_rng(1).normal(0, 0.2, (6, 120))
    alone = [decide(values(10, seed), chance, SECTIONS) for seed in range(12)]
    n_sound, n_alone = (sum(int((one.decided != 0).sum()) for one in found) for found in (sound, alone))
    assert n_sound > 1.2 * n_alone
    assert sum(wrong(one.decided) for one in sound) <= LEVEL * n_sound
    assert np.mean([one.worth[0] for one in sound]) > np.mean([one.worth[0] for one in alone])


def test_where_the_written_queries_say_the_opposite_they_decide_nothing_against_the_real_ones():
    """Their order is turned round: they count for next to nothing, and what is decided is what the real ones say."""
    turned = 2 * (WORTHS.mean() - WORTHS)
    found = [decide(values(30, seed), values(120, 100 + seed, turned), SECTIONS) for seed in range(12)]
    assert sum(wrong(one.decided) for one in found) <= LEVEL * sum(int((one.decided != 0).sum()) for one in found)
    assert max(one.worth[0] for one in found) < 15


def test_more_real_queries_decide_what_is_open_and_the_certificate_says_about_how_many():
    few, many = (decide(values(n, 5), values(120, 7), SECTIONS) for n in (10, 400))
    still = (few.decided == 0) & np.isfinite(few.more)
    assert still.any() and (few.more[still] >= 1).all() and (few.more[few.decided != 0] == 0).all()
    assert (many.decided != 0).sum() > (few.decided != 0).sum()


def test_equal_systems_are_left_open_and_no_number_of_real_queries_decides_them():
    real, written = values(20, 1), values(120, 2)
    real[1], written[1] = real[0], written[0]
    found = decide(real, written, SECTIONS)
    assert found.decided[0] == 0 and found.p_wrong[0] == pytest.approx(0.5) and np.isinf(found.more[0])


def test_systems_that_never_differ_are_all_open():
    found = decide(np.full((3, 8), 0.4), np.full((3, 120), 0.6), SECTIONS)
    assert (found.decided == 0).all() and np.isnan(found.expected_wrong) and np.isinf(found.more).all()


def test_with_very_many_real_queries_the_difference_is_the_plain_mean():
    real = values(4000, 3)
    found = decide(real, values(120, 4), SECTIONS)
    first, second = pairs(6)
    means = real.mean(axis=1)
    np.testing.assert_allclose(found.difference, means[first] - means[second], atol=0.01)
    assert ((found.low < found.difference) & (found.difference < found.high)).all()


def test_the_order_of_systems_and_queries_does_not_matter():
    real, written = values(20, 8), values(120, 9)
    at = np.array([3, 0, 5, 1, 4, 2])
    one, other = axes_of(real, written, SECTIONS), axes_of(real[at][:, ::-1], written[at], SECTIONS)
    np.testing.assert_allclose(np.abs(one.real), np.abs(other.real), atol=1e-9)
    np.testing.assert_allclose(one.written_variance, other.written_variance, atol=1e-9)


def test_the_axes_hold_the_whole_covariance():
    """Loadings' cross product is the covariance of the systems' values less their common mean."""
    real, written = values(21, 10), values(120, 11)
    axes = axes_of(real, written, SECTIONS)
    expected = shrunk(real - real.mean(axis=0), written - written.mean(axis=0))
    np.testing.assert_allclose(axes.loadings.T @ axes.loadings, expected.covariance, atol=1e-9)
    assert axes.df == expected.df


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 0.5), min_size=1, max_size=40), st.floats(0.01, 0.25))
def test_the_decided_pairs_are_together_as_sure_as_stated(p: list[float], level: float):
    p_wrong = np.array(p)
    chosen = within(p_wrong, level)
    if chosen.any():
        assert p_wrong[chosen].mean() <= level + 1e-12 and p_wrong[chosen].max() <= MOST_WRONG
    left = p_wrong[~chosen]
    if len(left):
        more = np.append(p_wrong[chosen], left.min())
        assert left.min() > MOST_WRONG or more.mean() > level - 1e-12
