"""The expectations of `comparisons`: every two agents on every measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import exp, sqrt
from statistics import fmean, stdev

import numpy as np
from scipy.stats import nct, norm, t, wilcoxon
from support.recomputed.expected import Book, Holds, Near, Path
from support.recomputed.files import Line, Run
from support.recomputed.ranking import Values
from support.recomputed.resampling import all_alike, bell_mccaffrey, t_quantile_of

SIX = 6e-6
Table = Mapping[str, Mapping[str, Values]]


def pairs(
    book: Book, run: Run, order: Sequence[str], scores: Table, grades: Table, rates: Mapping[str, Values]
) -> None:
    """`order`: the agents, best first."""
    ranked = (f"RR(rel=2)@{run.k}", f"RR(rel=1)@{run.k}")
    measures = [(name, {a: scores[a][name] for a in order}, 1.0) for name in ranked]
    measures += [(name, {a: grades[a][name] for a in order}, 2.0) for name in run.criteria]
    measures += [("win_rate", {a: rates[a] for a in order}, 1.0)]
    number = 0
    for name, values, width in measures:
        rows = [_Pair(run, values[a], values[b], width) for a, b in combinations(order, 2)]
        corrected = holm([row.p if row.p is not None else row.flips for row in rows])
        for (a, b), row, p in zip(combinations(order, 2), rows, corrected, strict=True):
            _expect(book, ("comparisons", number), (name, a, b), row, p, 0.05 / len(rows))
            number += 1


class _Pair:
    """Differences by query, and what follows from them."""

    def __init__(self, run: Run, one: Values, other: Values, width: float) -> None:
        self.lacking = [sorted(q for q in one if side[q] is None) for side in (one, other)]
        self.gaps = {q: a - b for q in one if (a := one[q]) is not None and (b := other[q]) is not None}
        self.width = width
        self.sections: dict[str, list[float]] = {}
        for query, gap in self.gaps.items():
            self.sections.setdefault(run.source[query], []).append(gap)
        self.groups = [(sum(own), float(len(own))) for own in self.sections.values()]
        self.p, self.flips = self._t_test(), sign_flips([total for total, _ in self.groups])

    @property
    def values(self) -> list[float]:
        return list(self.gaps.values())

    def ends(self) -> tuple[float | None, float | None]:
        if len(self.groups) < 2:
            return None, None
        mean = fmean(self.values)
        if max(self.values) - min(self.values) < 1e-12:
            return all_alike(mean, [len(own) for own in self.sections.values()], (-self.width, self.width))
        error, df = bell_mccaffrey(self.groups)
        if error < 1e-12:
            error, df = bell_mccaffrey([(gap, 1.0) for gap in self.values])
        reach = t_quantile_of(df) * error
        low, high = mean - reach, mean + reach
        if min(self.values) > -1e-12:
            high = max(high, self._far_end(mean, reach))
        if max(self.values) < 1e-12:
            low = min(low, -self._far_end(-mean, reach))
        return max(low, -self.width), min(high, self.width)

    def _far_end(self, mean: float, reach: float) -> float:
        """Where all differences point one way they lie between 0 and the width: the upper end on the logit scale."""
        odds = mean / (self.width - mean) * exp(reach * self.width / (mean * (self.width - mean)))
        return self.width * odds / (1 + odds)

    def jackknife_error(self) -> float:
        """From each section's pull on the mean when it is left out; 0 where there is none."""
        if len(self.groups) < 2:
            return 0.0
        total, n = sum(value for value, _ in self.groups), sum(count for _, count in self.groups)
        error = sqrt(sum(((total - value) / (n - count) - total / n) ** 2 for value, count in self.groups))
        return error if error > 1e-12 else 0.0

    def tested_error(self) -> float:
        """What the t-test takes: the textbook's where each query stands alone, else the jackknife's."""
        if len(self.groups) != len(self.values) or len(self.groups) < 2:
            return self.jackknife_error()
        error = stdev(self.values) / sqrt(len(self.values))
        return error if error > 1e-12 else 0.0

    def df(self) -> float:
        return bell_mccaffrey(self.groups)[1]

    def _t_test(self) -> float | None:
        error = self.tested_error()
        return float(2 * t(self.df()).sf(abs(fmean(self.values)) / error)) if error else None

    def signed_ranks(self) -> float | None:
        means = np.round([fmean(own) for own in self.sections.values()], 9)
        means = means[means != 0]
        if not len(means):
            return None
        tied = len({abs(mean) for mean in means}) < len(means)
        return float(wilcoxon(means, method="asymptotic" if tied or len(means) > 50 else "exact").pvalue)


def sign_flips(sums: Sequence[float]) -> float | None:
    """The chance of a total as far from 0, over all signs: the distribution built up section by section."""
    if all(abs(value) < 1e-9 for value in sums):
        return None
    totals = Counter({0.0: 1.0})
    for value in sums:
        wider: Counter[float] = Counter()
        for total, chance in totals.items():
            for sign in (-1, 1):
                wider[round(total + sign * value, 7)] += chance / 2  # type: ignore[assignment]
        totals = wider
    return min(1.0, sum(chance for total, chance in totals.items() if abs(total) >= abs(sum(sums)) - 1e-6))


def holm(p: Sequence[float | None]) -> list[float | None]:
    """The largest, over what is no larger, of p times how many stand at or behind it."""
    known = sorted(value for value in p if value is not None)
    scaled = [min(1.0, (len(p) - rank) * value) for rank, value in enumerate(known)]
    return [None if value is None else max(scaled[: known.index(value) + 1]) for value in p]


def _six(p: float | None) -> object:
    return None if p is None else Near(p, SIX * p, "kept with six digits")


def _expect(book: Book, path: Path, names: tuple[str, str, str], row: _Pair, p: float | None, level: float) -> None:
    values, n = row.values, len(row.gaps)
    lacking = len({query for side in row.lacking for query in side})
    low, high = row.ends()
    spread = stdev(values) if n > 1 else 0.0
    decided = p is not None and p <= 0.05 and abs(sum(values)) > 1e-9
    verdict = ("better" if sum(values) > 0 else "worse") if decided else "not distinguishable"
    figure: Line = {"value": fmean(values) if n else None, "n": n, "n_failed": lacking, "ci_low": low, "ci_high": high}
    book.put(path, dict(zip(("measure", "agent_a", "agent_b"), names, strict=True)) | {"difference": figure})
    rest: Line = {
        "n_sections": len(row.groups),
        "effect_size": fmean(values) / spread if spread > 1e-12 else None,
        "p_t": _six(row.p),
        "p_wilcoxon": _six(row.signed_ranks()),
        "p_sign_flip": _six(row.flips),
        "p_holm": _six(p),
        "verdict": verdict,
        "sentence": Holds(lambda said: all(name in said for name in names), f"names {names}"),
        "lacking_a": row.lacking[0],
        "lacking_b": row.lacking[1],
        "detectable": None,
        "needed": None,
    }
    if error := row.tested_error():
        of_t = t(row.df())
        rest["detectable"] = float(of_t.ppf(1 - level / 2) + of_t.ppf(0.8)) * error
        rest["needed"] = None if decided else _needed(row, level)
    book.put(path, rest)


def _needed(row: _Pair, level: float) -> Line:
    """Queries for 80% power, at the effect seen and at both ends of its interval."""
    error, df = bell_mccaffrey(row.groups)
    units, statistic = len(row.groups), fmean(row.values) / error
    each = len(row.gaps) / units

    def queries(effect: float) -> int | None:
        if abs(effect) < 1e-12:
            return None
        z = norm.ppf(1 - level / 2)
        found = max(2.0, ((z + norm.ppf(0.8)) / effect) ** 2 + z * z / 2) * each
        return int(np.ceil(found - 1e-6)) if found <= 1_000_000 else None

    ends = [_noncentrality(statistic, df, share) / sqrt(units) for share in (0.975, 0.025)]
    straddles = ends[0] <= 0 <= ends[1]
    return {
        "value": queries(statistic / sqrt(units)),
        "ci_low": queries(max(ends, key=abs)) or 1_000_000,
        "ci_high": None if straddles else queries(min(ends, key=abs)),
    }


def _noncentrality(statistic: float, df: float, share: float) -> float:
    """Under which T is at most `statistic` with chance `share`, by halving."""
    if statistic < 0:
        return -_noncentrality(-statistic, df, 1 - share)
    low, high = -60.0, 60.0 + 3 * statistic
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if nct.cdf(statistic, df, middle) > share else (low, middle)
    return low
