"""Intervals by a bootstrap of our own, and whether two bootstraps with different draws agree on an end.

The interval is Hesterberg's expanded percentile interval (The American Statistician 69(4), 2015, section 4.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, sqrt
from statistics import NormalDist

import numpy as np
from scipy.special import betainc
from scipy.stats import hypergeom

CONFIDENCE = 0.95
NEVER = 1e-6
"""Two honest bootstraps differ so much with a smaller chance than this."""


def t_two_sided(t: float, df: int) -> float:
    """P(|T| > |t|) for Student's t: the regularised incomplete beta function I_x(df/2, 1/2), x = df / (df + t²)."""
    return float(betainc(df / 2, 0.5, df / (df + t * t)))


def t_quantile(df: int) -> float:
    """The t that |T| exceeds with chance 1 - CONFIDENCE, by halving."""
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if t_two_sided(middle, df) > 1 - CONFIDENCE else (low, middle)
    return low


def tail(n: int) -> float:
    return NormalDist().cdf(-sqrt(n / (n - 1)) * t_quantile(n - 1))


@dataclass(frozen=True)
class End:
    """One end of an interval: `own` are a figure's values in resamples of our own, `replicates` how many it had there.

    given: the end in the file. It must lie within what the data allow, and the shares of our values below it and up to
    it must be those that the tail asks for, as far as both numbers of draws can tell (hypergeometric test).
    """

    side: str
    own: np.ndarray
    value: float
    n: int
    replicates: int

    def __call__(self, given: object) -> bool:
        if not isinstance(given, float | int):
            return False
        own, at = (self.own, float(given)) if self.side == "low" else (-self.own, -float(given))
        value = self.value if self.side == "low" else -self.value
        place = floor((self.replicates - 1) * tail(self.n)) + 1
        below, up_to = int((own < at - 1e-8).sum()), int((own <= at + 1e-8).sum())
        return (
            own.min() - self._slack() <= at <= value + 1e-8
            and self._chance(below, place, more=True) >= NEVER
            and self._chance(up_to, place, more=False) >= NEVER
        )

    def _slack(self) -> float:
        """A value that none of our draws gave may be in the file's: half a standard deviation."""
        return float(self.own.std()) / 2

    def _chance(self, ours: int, theirs: int, *, more: bool) -> float:
        """Of so many at least (or at most) `ours` among our draws, if both had been drawn from one lot."""
        lot = hypergeom(len(self.own) + self.replicates, ours + min(theirs, self.replicates), len(self.own))
        return float(lot.sf(ours - 1) if more else lot.cdf(ours))

    def __repr__(self) -> str:
        quantile = np.quantile(self.own, tail(self.n) if self.side == "low" else 1 - tail(self.n))
        return f"the {self.side} end of an interval around {self.value}, about {quantile:.6g}"


@dataclass(frozen=True)
class Draws:
    """`index` (draws, queries): which queries are in each resample. `replicates`: how many the run itself had."""

    queries: Sequence[str]
    index: np.ndarray
    replicates: int

    def ratio(self, sums: dict[str, float], counts: dict[str, float]) -> np.ndarray:
        above = np.array([sums.get(q, 0.0) for q in self.queries])[self.index].sum(axis=1)
        below = np.array([counts.get(q, 0.0) for q in self.queries])[self.index].sum(axis=1)
        return above[below > 0] / below[below > 0]


def draw(queries: Sequence[str], replicates: int, own: int = 20_000) -> Draws:
    index = np.random.default_rng(20250117).integers(len(queries), size=(own, len(queries)))
    return Draws(queries, index, replicates)
