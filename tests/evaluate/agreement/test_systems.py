"""The order of systems under two sets of labels, beside scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from ragassay.evaluate.agreement.systems import agree_on_scores


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12))
def test_the_order_of_systems_as_scipy_has_it(tmp_path_factory, scores: list[tuple[int, int]]):
    table = tmp_path_factory.mktemp("scores") / "scores.csv"
    table.write_text("system,a,b\n" + "".join(f"s{n},{a},{b}\n" for n, (a, b) in enumerate(scores)))
    found = agree_on_scores(table)
    one, other = zip(*scores, strict=True)
    for name, theirs in (("tau_b", kendalltau), ("rho", spearmanr)):
        if np.ptp(one) and np.ptp(other):
            assert found.figures[name].value == pytest.approx(theirs(one, other).statistic, abs=1e-6)
        else:
            assert found.figures[name].value is None and "have no order" in found.undefined[name]
