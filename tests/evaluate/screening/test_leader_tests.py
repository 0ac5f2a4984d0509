"""From whom the leader is told: by the paired t-test and the sign flips, both."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import permutation_test, ttest_rel
from support.screenings import screening

from ragassay.evaluate.inputs.clusters import clusters_of_rows
from ragassay.evaluate.screening.leader_tests import told_worse, told_worse_with_failures
from ragassay.evaluate.screening.screen_results import screen_results


def alone(n):
    return clusters_of_rows([f"{at:03d}" for at in range(n)])


@pytest.mark.parametrize("seed", range(8))
def test_it_is_told_where_scipys_tests_both_say_so(seed):
    rng = np.random.default_rng(seed)
    leader, other = rng.integers(0, 61, 14) / 60, rng.integers(0, 45, 14) / 60
    gaps = leader - other
    by_t = ttest_rel(leader, other).pvalue
    flips = permutation_test((gaps,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    told = told_worse(np.stack([leader, other]), 0, alone(14), 7)
    assert told.tolist() == [False, bool(gaps.mean() > 0 and by_t <= 0.045 and flips <= 0.045)]


def test_six_sections_that_all_say_the_same_suffice_and_five_do_not():
    for n, sure in ((6, True), (5, False)):
        chosen = screen_results(screening([[0.8] * n, [0.5] * n])).chosen
        assert (chosen.sure, chosen.untold) == (sure, () if sure else ("v01",))


def test_a_variant_that_fails_where_it_would_be_bad_is_not_paid_for_it():
    rng = np.random.default_rng(4)
    other = rng.uniform(0.3, 0.7, 30)
    leader = other + 0.1
    leader[::2] = np.nan
    values = np.stack([leader, other])
    assert told_worse(values, 0, alone(30), 7).tolist() == [False, True]
    assert told_worse_with_failures(values, 0, alone(30), 7).tolist() == [False, False]
