"""Which pairs of systems are decided, by how probable it is that their order is the other way round.

A pair's `p_wrong` is the posterior probability that the sign of its difference is not the likelier one (the local
false sign rate: Stephens, Biostatistics 18(2), 2017). Decided are as many pairs, the surest first, as together are
wrong in no more than `level` of them on average, and none that is wrong with more than `MOST_WRONG`.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ragassay.arrays import Floats, Truths

from ..inputs.clusters import Clusters
from ..statistics.orders import pairs
from .axes import Axes, axes_of
from .posterior import Drawn, draw

LEVEL = 0.1
"""Of the decided pairs, the share that may be the other way round, in expectation."""

MOST_WRONG = 0.27
"""The p_wrong above which no pair is decided, however sure the others are."""

MOST_REAL = 1000
"""More real queries than this are as good as never."""

_ROUNDING = 1e-12
"""Two systems whose values differ by less on every axis are the same."""


@dataclass(frozen=True, eq=False)
class Decided:
    """Of every two systems, the first less the second, in the order of `orders.pairs`; all (pairs,).

    difference, low, high: posterior mean and central 95%. p_wrong: 0 to 0.5. decided: 1 where the first is better, -1
    the second, 0 open. more: of open pairs, about how many more real queries would decide them if the difference is as
    it is estimated now; infinite beyond MOST_REAL, 0 of decided ones. expected_wrong: mean p_wrong of the decided
    pairs, NaN without any. worth: (3,), how many real queries the written ones count for: median and central 90%.
    """

    difference: Floats
    low: Floats
    high: Floats
    p_wrong: Floats
    decided: Floats
    more: Floats
    expected_wrong: float
    worth: Floats


def decide(real: Floats, written: Floats, clusters: Clusters, *, level: float = LEVEL, seed: int = 7) -> Decided:
    """From values (systems, queries), none missing; clusters: of the written queries."""
    axes = axes_of(real, written, clusters)
    drawn = draw(axes, seed)
    first, second = pairs(len(real))
    gaps = drawn.means[:, first] - drawn.means[:, second]
    same = np.abs(axes.loadings[:, first] - axes.loadings[:, second]).max(axis=0, initial=0.0) < _ROUNDING
    ahead = np.where(same, 0.5, (gaps > 0).mean(axis=0))
    p_wrong = np.minimum(ahead, 1 - ahead)
    chosen = within(p_wrong, level)
    low, high = np.quantile(gaps, [0.025, 0.975], axis=0)
    return Decided(
        difference=gaps.mean(axis=0),
        low=low,
        high=high,
        p_wrong=p_wrong,
        decided=np.where(chosen, np.sign(ahead - 0.5), 0.0),
        more=np.where(chosen, 0.0, _more(axes, drawn, p_wrong, chosen)),
        expected_wrong=float(p_wrong[chosen].mean()) if chosen.any() else float("nan"),
        worth=np.quantile(drawn.worth, [0.5, 0.05, 0.95]),
    )


def within(p_wrong: Floats, level: float = LEVEL) -> Truths:
    """(pairs,): the surest pairs, as many as keep the mean of `p_wrong` at `level` or below, none above MOST_WRONG."""
    order = np.argsort(p_wrong, kind="stable")
    mean = np.cumsum(p_wrong[order]) / np.arange(1, len(p_wrong) + 1)
    chosen = np.zeros(len(p_wrong), dtype=bool)
    chosen[order] = (mean <= level) & (p_wrong[order] <= MOST_WRONG)
    return chosen


def _more(axes: Axes, drawn: Drawn, p_wrong: Floats, chosen: Truths) -> Floats:
    """(pairs,): real queries until a pair is as sure as the least sure that is decided, rounded up, at least 1.

    Each adds 1 / v to the precision of the pair's difference, v its variance over queries, and the difference stays.
    """
    limit = float(p_wrong[chosen].max()) if chosen.any() else LEVEL
    reach = NormalDist().inv_cdf(1 - min(max(limit, 0.01), MOST_WRONG))
    first, second = pairs(drawn.means.shape[1])
    gaps = drawn.means[:, first] - drawn.means[:, second]
    each = ((axes.loadings[:, first] - axes.loadings[:, second]) ** 2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        wanted = each * (reach**2 / gaps.mean(axis=0) ** 2 - 1 / gaps.var(axis=0))
    wanted = np.maximum(1.0, np.ceil(np.where(np.isfinite(wanted) & (each > _ROUNDING**2), wanted, np.inf)))
    return np.where(wanted > MOST_REAL, np.inf, wanted)
