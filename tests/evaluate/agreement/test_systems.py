"""The order of systems under two sets of labels, beside scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from ragassay.evaluate.agreement.systems import order_agreement


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12))
def test_the_order_of_systems_as_scipy_has_it(scores: list[tuple[int, int]]):
    one, other = [np.array(side, dtype=np.float64) for side in zip(*scores, strict=True)]
    for name, theirs in (("tau_b", kendalltau), ("rho", spearmanr)):
        found = order_agreement(name, one, other)
        if np.ptp(one) and np.ptp(other):
            assert found == pytest.approx(theirs(one, other).statistic, abs=1e-9)
        else:
            assert found is None
