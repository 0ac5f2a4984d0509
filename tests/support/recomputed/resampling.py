"""Intervals of means from their formula, and whether two bootstraps with different draws agree on an end.

The interval is Hesterberg's expanded percentile interval (The American Statistician 69(4), 2015, section 4.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, floor, sqrt
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
    """`index`: which queries are in each resample of sections. `sections`: query to section.

    `replicates`: how many the run itself had.
    """

    queries: Sequence[str]
    index: list[np.ndarray]
    replicates: int
    sections: dict[str, str]

    def tail(self, n: int) -> float:
        """Of a figure with `n` queries behind it: no more independent units than sections."""
        return tail(min(n, len(set(self.sections.values()))))

    def mean_interval(
        self, sums: dict[str, float], counts: dict[str, float], limits: tuple[float, float] | None
    ) -> tuple[float | None, float | None]:
        """The clustered interval of a ratio of sums by query: t with Bell and McCaffrey's error, on the logit scale."""
        held = [query for query, count in counts.items() if count]
        by: dict[str, list[str]] = {}
        for query in held:
            by.setdefault(self.sections[query], []).append(query)
        if len(by) < 2:
            return None, None
        each, total = [sums[query] / counts[query] for query in held], sum(counts.values())
        value = sum(sums[query] for query in held) / total
        if max(each) - min(each) < 1e-12:
            return (None, None) if limits is None else all_alike(value, [len(own) for own in by.values()], limits)
        groups = [(sum(sums[q] for q in own), sum(counts[q] for q in own)) for own in by.values()]
        error, df = bell_mccaffrey(groups)
        if error < 1e-12:
            error, df = bell_mccaffrey([(sums[q], counts[q]) for q in held])
        reach = t_quantile_of(df) * error
        if limits is None:
            return value - reach, value + reach
        width = limits[1] - limits[0]
        place = (value - limits[0]) / width
        reach /= width * place * (1 - place)
        odds = [place / (1 - place) * exp(side * reach) for side in (-1, 1)]
        return limits[0] + width * odds[0] / (1 + odds[0]), limits[0] + width * odds[1] / (1 + odds[1])


def bell_mccaffrey(groups: list[tuple[float, float]]) -> tuple[float, float]:
    """(standard error, Satterthwaite's degrees of freedom) of a ratio, from (sum, count) of each cluster: CR2."""
    total = sum(count for _, count in groups)
    value = sum(number for number, _ in groups) / total
    error = sqrt(sum((number - value * n) ** 2 / (1 - n / total) for number, n in groups)) / total
    omega = np.array(
        [
            [
                ((n if i == j else 0.0) - n * m / total) / sqrt((1 - n / total) * (1 - m / total))
                for j, (_, m) in enumerate(groups)
            ]
            for i, (_, n) in enumerate(groups)
        ]
    )
    return error, float(np.trace(omega) ** 2 / np.trace(omega @ omega))


def all_alike(value: float, sizes: list[int], limits: tuple[float, float]) -> tuple[float, float]:
    """Clopper and Pearson's limit for n like observations; a section's are correlated by a half (Kish 1965)."""
    n = sum(sizes) / (1 + (sum(size**2 for size in sizes) / sum(sizes) - 1) / 2)
    elsewhere = 1 - 0.025 ** (1 / n)
    return value - elsewhere * (value - limits[0]), value + elsewhere * (limits[1] - value)


def t_quantile_of(df: float) -> float:
    """`t_quantile` for degrees of freedom that need not be whole."""
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        inside = float(betainc(df / 2, 0.5, df / (df + middle * middle)))
        low, high = (middle, high) if inside > 1 - CONFIDENCE else (low, middle)
    return low


def draw(queries: Sequence[str], sections: dict[str, str], replicates: int, own: int = 20_000) -> Draws:
    groups: dict[str, list[int]] = {}
    for number, query in enumerate(queries):
        groups.setdefault(sections[query], []).append(number)
    members = [np.array(group) for group in groups.values()]
    chosen = np.random.default_rng(20250117).integers(len(members), size=(own, len(members)))
    index = [np.concatenate([members[section] for section in row]) for row in chosen]
    return Draws(queries, index, replicates, sections)
