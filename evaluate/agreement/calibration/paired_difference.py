"""The interval of a difference of two figures of agreement on the same rows, from the intervals of both.

Agreement near 1, and that of rare labels, is skewed and its bootstrap too narrow, which is why each figure has an
interval of its own making (`evaluate.agreement.interval`); the bootstrap of their difference would lose that again. So
the two intervals are joined by the method of variance estimates recovery with the correlation of the two (Zou,
Psychological Methods 12(4), 2007: dependent correlations), which the bootstrap does tell.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ragassay.arrays import Floats
from ragassay.records import Figure

from ...statistics.clustered import NO_SPREAD
from ...statistics.resamples import rounded
from ..interval import Ends


def paired_difference(after: Figure, before: Figure, replicates: tuple[Floats, Floats]) -> Figure:
    """after - before; replicates: of both, under the same draws of clusters. No interval where one of them has none.

    With values a and b, ends (la, ua) and (lb, ub), and their correlation r:
    low = a - b - sqrt((a - la)^2 - 2 r (a - la)(ub - b) + (ub - b)^2), high likewise with the other ends.
    """
    if after.value is None or before.value is None:
        return Figure(value=None, n=after.n, n_failed=after.n_failed)
    value = after.value - before.value
    ends: Ends = (None, None)
    if None not in (after.ci_low, after.ci_high, before.ci_low, before.ci_high):
        (below_a, above_a), (below_b, above_b) = _reaches(after), _reaches(before)
        r = _correlation(*replicates)
        ends = value - _joined(below_a, above_b, r), value + _joined(above_a, below_b, r)
    return rounded(value, after.n, after.n_failed, *ends)


def _reaches(figure: Figure) -> tuple[float, float]:
    """How far the ends lie below and above the value."""
    value = figure.value or 0.0
    return value - (figure.ci_low or 0.0), (figure.ci_high or 0.0) - value


def _joined(one: float, other: float, r: float) -> float:
    return sqrt(max(0.0, one**2 - 2 * r * one * other + other**2))


def _correlation(one: Floats, other: Floats) -> float:
    """Over the replicates in which both are defined; 0 where either does not vary, which is the wider interval."""
    known = np.isfinite(one) & np.isfinite(other)
    if known.sum() < 2 or min(one[known].std(), other[known].std()) < NO_SPREAD:
        return 0.0
    return float(np.corrcoef(one[known], other[known])[0, 1])
