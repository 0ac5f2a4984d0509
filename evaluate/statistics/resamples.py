"""Intervals of figures over queries, and resamples of the queries for figures that have no closed form.

What is asked about one query (its passages, its games) stands or falls together, and so, more loosely, do queries made
from the same section: both are kept together. Means and shares have the clustered interval of `clustered.py`.
Ratings are resampled: every figure of a comparison with the same draws of whole sections (the cluster bootstrap). Their
interval is Hesterberg's expanded percentile interval ("What Teachers Should Know About the Bootstrap", The American
Statistician 69(4), 2015, section 4.3): plain percentiles are too narrow for small samples, so they are taken where
Student's t with n - 1 degrees of freedom and the factor sqrt(n / (n - 1)) would put them, n the number of sections.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from ragassay.arrays import Floats
from ragassay.records import Figure

from ..inputs.clusters import ALONE, Clusters
from .clustered import Range
from .clustered import interval as clustered_interval

DIGITS = 9
"""Decimals kept in a file: enough for any use, few enough that another processor's last bit does not show."""


@dataclass(frozen=True)
class Resamples:
    """The draws. `weights` is (replicates, queries): how often each query was drawn, with the others of its cluster.

    clusters: of all queries, in the order of their ids.
    """

    clusters: Clusters
    weights: NDArray[np.int16]
    seed: int
    confidence: float = 0.95

    @property
    def queries(self) -> tuple[str, ...]:
        """Their ids, in order."""
        return self.clusters.queries

    def figure(self, values: Mapping[str, float | None], limits: Range | None = None) -> Figure:
        """The mean over queries. `values` holds every query owed; None is one that failed and is not in the mean."""
        n_failed = list(values.values()).count(None)
        column = np.array(list(map(values.get, self.queries)), dtype=np.float64)
        known = ~np.isnan(column)
        sums = np.where(known, column, 0.0)
        return self.of_columns(sums, known.astype(np.float64), len(values) - n_failed, n_failed, limits)

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

        limits: the range of sums / counts. The interval is that of `evaluate.statistics.clustered`, not resampled.
        """
        return self.of_columns(self._column(sums), self._column(counts), n, n_failed, limits)

    def of_columns(self, above: Floats, below: Floats, n: int, n_failed: int, limits: Range | None) -> Figure:
        """The same of columns (queries,), in the order of `queries`."""
        if not below.sum():
            return Figure(value=None, n=n, n_failed=n_failed)
        value, low, high = clustered_interval(above, below, self.clusters, limits)
        return rounded(value, n, n_failed, low, high)

    def mean(self, rows: Iterable[tuple[str, float]], n_failed: int, limits: Range | None = (0.0, 1.0)) -> Figure:
        """The mean of values of which a query may have several, or none: (query id, value). `n` counts the values."""
        sums, counts = defaultdict[str, float](float), Counter[str]()
        for query, value in rows:
            sums[query] += value
            counts[query] += 1
        return self.ratio(sums, counts, n=counts.total(), n_failed=n_failed, limits=limits)

    def interval(self, replicates: Floats, n: int) -> tuple[float | None, float | None]:
        """The interval from a figure's value in each replicate, `n` queries behind it; None below two of either.

        There are no more independent units behind them than clusters.
        """
        tail = expanded_tail(min(n, len(self.clusters.names)), self.confidence)
        if not tail or len(replicates) < 2:
            return None, None
        low, high = np.quantile(replicates, [tail, 1 - tail])
        return float(low), float(high)

    def rating_interval(self, replicates: Floats, n: int) -> tuple[float | None, float | None]:
        """As `interval`; None too where all replicates are the same, which do not tell how far off a rating may be."""
        return self.interval(replicates, n) if len(replicates) and np.ptp(replicates) > 1e-9 else (None, None)

    def _column(self, values: Mapping[str, float]) -> Floats:
        return np.array(list(map(values.get, self.queries, repeat(0.0))), dtype=np.float64)


def resamples(queries: Sequence[str], replicates: int, seed: int, clusters: Clusters = ALONE) -> Resamples:
    """`replicates` draws with replacement of as many clusters as `queries` have, each with all of its queries.

    A query that `clusters` does not have is drawn alone. The order of `queries` does not matter.
    """
    mine = clusters.of(sorted(set(queries)))
    size = len(mine.names)
    if not size:
        return Resamples(mine, np.zeros((replicates, 0), np.int16), seed)
    weights = np.random.default_rng(seed).multinomial(size, np.full(size, 1 / size), size=replicates)
    return Resamples(mine, weights.astype(np.int16)[:, mine.numbers], seed)


def rounded(value: float, n: int, n_failed: int, low: float | None, high: float | None) -> Figure:
    """A figure with `DIGITS` decimals; what is NaN is none."""
    found, low, high = (None if one is None or one != one else round(float(one), DIGITS) for one in (value, low, high))
    return Figure(value=found, n=n, n_failed=n_failed, ci_low=low, ci_high=high)


def told(figure: Figure, digits: str = ".2f") -> str:
    """`0.62 (0.55 to 0.70)`."""
    if figure.value is None:
        return "not known"
    ends = "" if figure.ci_low is None else f" ({figure.ci_low:{digits}} to {figure.ci_high:{digits}})"
    return f"{figure.value:{digits}}{ends}"


def six_digits(p: float) -> float:
    """A p-value as it is kept."""
    return float(f"{p:.6g}")


@lru_cache
def expanded_tail(n: int, confidence: float) -> float:
    """The share of replicates beyond each end of the interval, of n independent units; 0 below two.

    Hesterberg 2015, section 4.3: Phi(-sqrt(n / (n - 1)) t), t the quantile of Student's t with n - 1 degrees.
    """
    from scipy.special import ndtr, stdtrit

    if n < 2:
        return 0.0
    return float(ndtr(sqrt(n / (n - 1)) * stdtrit(n - 1, (1 - confidence) / 2)))


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p-values (Scandinavian Journal of Statistics 6, 1979), in the order given.

    An undefined p is None and stays so; it counts in the family as one that is never small.
    """
    order = sorted((index for index, value in enumerate(p) if value is not None), key=lambda i: (p[i], i))
    adjusted: list[float | None] = [None] * len(p)
    least = 0.0
    for rank, index in enumerate(order):
        least = max(least, min(1.0, (len(p) - rank) * (p[index] or 0.0)))
        adjusted[index] = six_digits(least)
    return adjusted
