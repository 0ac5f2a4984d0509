"""Two-sided p-values beside measures of agreement: that two raters' labels have nothing in common, or the same mean.

Kendall's and Spearman's are scipy's, exact for few pairs without ties and else asymptotic, and take pairs as
independent: where several are of one query they are too small, and the interval, which resamples queries, is to be
trusted. The t-test of judge - people is paired and cluster-robust (`statistics.clustered`): with one pair a query it is
Student's own.
"""

from __future__ import annotations

import numpy as np

from ragassay.arrays import Floats

from ..inputs.clusters import Clusters
from ..statistics.clustered import NO_SPREAD, estimate
from ..statistics.resamples import six_digits


def rank_p(x: Floats, y: Floats) -> dict[str, float]:
    """`tau_b`, `rho` of values (n,); nothing below three, and where one side's values are all alike."""
    from scipy.stats import kendalltau, spearmanr

    if len(x) < 3 or np.ptp(x) < NO_SPREAD or np.ptp(y) < NO_SPREAD:
        return {}
    found = {"tau_b": kendalltau(x, y).pvalue, "rho": spearmanr(x, y).pvalue}
    return {name: six_digits(p) for name, p in found.items() if np.isfinite(p)}


def bias_p(gaps: Floats, clusters: Clusters) -> dict[str, float]:
    """`bias` of judge - people (n,), that it is 0; nothing below two clusters, and where all gaps are the same."""
    from scipy.special import stdtr

    found = estimate(clusters.sums(gaps), clusters.sizes)
    if not found.error > NO_SPREAD:
        return {}
    return {"bias": six_digits(2 * float(stdtr(found.df, -abs(found.value / found.error))))}
