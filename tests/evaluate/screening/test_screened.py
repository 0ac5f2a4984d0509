"""Figures of all variants at once are those of each by itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from ragassay.evaluate.inputs.clusters import clusters_of_rows
from ragassay.evaluate.screening.screened import mean_figures
from ragassay.evaluate.statistics.resamples import resamples


def test_each_row_has_the_figure_that_the_rest_of_the_report_gives_it():
    rng = np.random.default_rng(2)
    values = np.clip(rng.normal(0.6, 0.4, (7, 30)), 0, 1)
    values[2, 4:9], values[3, 4:9], values[5] = np.nan, np.nan, np.nan
    clusters = clusters_of_rows([f"{at // 3:02d}" for at in range(30)])
    draws = resamples(clusters.queries, 0, 7, clusters)
    for row, figure in zip(values, mean_figures(values, clusters), strict=True):
        known = {q: None if np.isnan(x) else float(x) for q, x in zip(clusters.queries, row, strict=True)}
        alone = draws.figure(known, (0.0, 1.0))
        assert (figure.n, figure.n_failed) == (alone.n, alone.n_failed)
        assert [figure.value, figure.ci_low, figure.ci_high] == pytest.approx(
            [alone.value, alone.ci_low, alone.ci_high]
        )


def test_of_tokens_it_is_students_interval():
    tokens = np.random.default_rng(3).normal(1000, 200, (1, 20))
    [figure] = mean_figures(tokens, clusters_of_rows([f"{at:02d}" for at in range(20)]), None)
    low, high = t.interval(0.95, 19, tokens.mean(), tokens.std(ddof=1) / np.sqrt(20))
    assert (figure.value, figure.ci_low, figure.ci_high) == pytest.approx((tokens.mean(), low, high))
