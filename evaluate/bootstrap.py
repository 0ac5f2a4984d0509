"""Intervals from resampling queries: every figure of a comparison is resampled with the same draws.

The unit is the query, since what is asked about one query (its passages, its games) stands or falls together: the
cluster bootstrap. The interval is Hesterberg's expanded percentile interval ("What Teachers Should Know About the
Bootstrap", The American Statistician 69(4), 2015, section 4.3): plain percentiles are too narrow for small samples, so
they are taken where Student's t with n - 1 degrees of freedom and the factor sqrt(n / (n - 1)) would put them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from ragassay.records import Figure

Floats = NDArray[np.float64]
Range = tuple[float, float]
"""The lowest and the highest value that one query can have."""

DIGITS = 9
"""Decimals kept in a file: enough for any use, few enough that another processor's last bit does not show."""


@dataclass(frozen=True)
class Resamples:
    """The draws. `weights` is (replicates, queries): how often each query was drawn; each row sums to the queries."""

    queries: tuple[str, ...]
    weights: NDArray[np.int64]
    seed: int
    confidence: float = 0.95

    def figure(self, values: Mapping[str, float | None], limits: Range | None = None) -> Figure:
        """The mean over queries. `values` holds every query owed; None is one that failed and is not in the mean."""
        known = {query: value for query, value in values.items() if value is not None}
        counts = dict.fromkeys(known, 1.0)
        return self.ratio(known, counts, n=len(known), n_failed=len(values) - len(known), limits=limits)

    def ratio(
        self,
        sums: Mapping[str, float],
        counts: Mapping[str, float],
        *,
        n: int,
        n_failed: int,
        limits: Range | None = None,
    ) -> Figure:
        """The sum of `sums` over the sum of `counts`, both by query; None where nothing is counted.

        limits: the range of sums / counts; where every query stands at one end of it, resampling sees no spread and
        the exact limit for so many like observations (Clopper and Pearson 1934) stands in for it.
        """
        above, below = self._column(sums), self._column(counts)
        if not below.sum():
            return Figure(value=None, n=n, n_failed=n_failed)
        with np.errstate(invalid="ignore", divide="ignore"):
            replicates = (self.weights @ above) / (self.weights @ below)
        value, size = float(above.sum() / below.sum()), int((below > 0).sum())
        spread = above[below > 0] / below[below > 0]
        if np.ptp(spread) < 1e-12:
            low, high = _like_observations(value, size, limits, self.confidence)
        else:
            low, high = self.interval(replicates[np.isfinite(replicates)], size)
        return rounded(value, n, n_failed, low, high)

    def interval(self, replicates: Floats, n: int) -> tuple[float | None, float | None]:
        """The interval from a figure's value in each replicate, `n` queries behind it; None below two of either."""
        if n < 2 or len(replicates) < 2:
            return None, None
        tail = self.tail(n)
        low, high = np.quantile(replicates, [tail, 1 - tail])
        return float(low), float(high)

    def tail(self, n: int) -> float:
        """The share of replicates beyond each end of the interval, for `n` queries (0 below two)."""
        return _tail(n, self.confidence)

    def _column(self, values: Mapping[str, float]) -> Floats:
        return np.array([values.get(query, 0.0) for query in self.queries])


def resamples(queries: Sequence[str], replicates: int, seed: int) -> Resamples:
    """`replicates` draws of as many queries as there are, with replacement. The order of `queries` does not matter."""
    names = tuple(sorted(set(queries)))
    generator = np.random.default_rng(seed)
    if not names:
        return Resamples((), np.zeros((replicates, 0), np.int64), seed)
    weights = generator.multinomial(len(names), np.full(len(names), 1 / len(names)), size=replicates)
    return Resamples(names, weights.astype(np.int64), seed)


def rounded(value: float, n: int, n_failed: int, low: float | None, high: float | None) -> Figure:
    """A figure with `DIGITS` decimals."""
    ends = [None if end is None else round(float(end), DIGITS) for end in (low, high)]
    return Figure(value=round(float(value), DIGITS), n=n, n_failed=n_failed, ci_low=ends[0], ci_high=ends[1])


@lru_cache
def _tail(n: int, confidence: float) -> float:
    """Hesterberg 2015, section 4.3: Phi(-sqrt(n / (n - 1)) t), t the quantile of Student's t with n - 1 degrees."""
    from scipy.special import ndtr, stdtrit

    if n < 2:
        return 0.0
    return float(ndtr(sqrt(n / (n - 1)) * stdtrit(n - 1, (1 - confidence) / 2)))


def _like_observations(
    value: float, n: int, limits: Range | None, confidence: float
) -> tuple[float | None, float | None]:
    """All `n` at one end of the range: a mean further than this from that end would show so rarely; else unknown."""
    if limits is None or n < 2:
        return None, None
    reach = (limits[1] - limits[0]) * (1 - ((1 - confidence) / 2) ** (1 / n))
    if abs(value - limits[1]) < 1e-12:
        return limits[1] - reach, limits[1]
    if abs(value - limits[0]) < 1e-12:
        return limits[0], limits[0] + reach
    return None, None
