"""All pairs of agents on one measure: what differs, how surely, and if not, what it would take.

Values are matched by query id. Queries of one section are not independent, so every test is over sections. The
clustered t-test decides, where queries share sections its error with the jackknife's correction (CR3), which keeps
Holm's far tails honest with few sections (`benchmarks/coverage/comparisons.py`). Wilcoxon's test of section means and
the sign-flip permutation of section sums stand beside it; where each query is its own section all three are the
textbook's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, compress
from math import isfinite, sqrt

import numpy as np

from ragassay.arrays import Floats
from ragassay.records import Figure

from ..inputs.clusters import ALONE, Clusters
from ..results import NOT_DISTINGUISHABLE, PRACTICALLY_EQUAL, Comparison, NeededQueries, PairVerdict
from .clustered import NO_SPREAD, Estimate, Values, estimate, interval
from .holm import holm
from .power import MOST, detectable, needed_interval
from .resamples import DIGITS, rounded, six_digits
from .sign_flip import flip_p

LEVEL = 0.05
"""Of every test here: two-sided, over all that are corrected together."""

_EXACT_WILCOXON = 50


@dataclass(frozen=True)
class Paired:
    """The differences a - b of two agents, by query id in order. clusters: of these queries, by section.

    lacking_a, lacking_b: the ids, sorted, on which one side has no value.
    """

    clusters: Clusters
    gaps: Floats
    lacking_a: tuple[str, ...]
    lacking_b: tuple[str, ...]

    @property
    def queries(self) -> tuple[str, ...]:
        """Those on which both have a value."""
        return self.clusters.queries

    @property
    def lacking(self) -> int:
        """On how many queries some side has no value."""
        return len({*self.lacking_a, *self.lacking_b})

    def over_sections(self) -> Estimate:
        """The mean difference and its errors."""
        return estimate(self.clusters.sums(self.gaps), self.clusters.sizes)

    def difference(self, width: float | None) -> Figure:
        """The mean with its interval; `width` is that of the measure's range, if it has one."""
        if not len(self.gaps):
            return Figure(value=None, n=0, n_failed=self.lacking)
        value, low, high = self._interval(width, 0.95)
        return rounded(value, len(self.gaps), self.lacking, low, high)

    def is_within(self, matters: float, width: float | None) -> bool:
        """Whether the agents are practically equal: two one-sided tests at `LEVEL` say that they differ by less.

        That is, the 90% interval of the difference lies within -matters and matters (Schuirmann, Journal of
        Pharmacokinetics and Biopharmaceutics 15(6), 1987).
        """
        if not len(self.gaps):
            return False
        _, low, high = self._interval(width, 1 - 2 * LEVEL)
        return low is not None and high is not None and -matters < low and high < matters

    def _interval(self, width: float | None, confidence: float) -> tuple[float, float | None, float | None]:
        limits = (-width, width) if width is not None else None
        counts = np.ones(len(self.gaps))
        return interval(self.gaps, counts, self.clusters, limits, difference=True, confidence=confidence)


def pair_by_query(a: Values, b: Values, clusters: Clusters = ALONE) -> Paired:
    """Match two agents' values by query id; None is a value that is not there. The order of ids does not matter."""
    return pairs_by_query((a, b), clusters)[0]


def pairs_by_query(values: Sequence[Values], clusters: Clusters = ALONE) -> list[Paired]:
    """Every two of `values` so matched, the first less the second, in the order of `itertools.combinations`."""
    ids = sorted(set().union(*values))
    owed = np.array([[query in row for query in ids] for row in values], dtype=bool)
    known = np.array(
        [[np.nan if (value := row.get(query)) is None else value for query in ids] for row in values], dtype=np.float64
    )
    of_both: dict[bytes, Clusters] = {}
    pairs = []
    for one, other in combinations(range(len(values)), 2):
        gaps = known[one] - known[other]
        both, asked = ~np.isnan(gaps), owed[one] | owed[other]
        key = both.tobytes()
        if key not in of_both:
            of_both[key] = clusters.of(list(compress(ids, both.tolist())))
        lacking = [tuple(compress(ids, (asked & np.isnan(known[side])).tolist())) for side in (one, other)]
        pairs.append(Paired(of_both[key], gaps[both], lacking[0], lacking[1]))
    return pairs


def tested_error(found: Estimate, n_queries: int) -> Floats:
    """The standard error that tests take: CR3, but the paired t-test's own where each query is its own section."""
    return np.where(found.n_clusters == n_queries, found.error, found.jackknife_error)


def t_p(found: Estimate, n_queries: int) -> Floats:
    """Two-sided p of the clustered t-test; NaN where it is not defined: below two sections, or without any spread.

    n_queries: over how many queries `found` is. Where each is its own section this is the textbook's paired t-test.
    """
    from scipy.special import stdtr

    error = tested_error(found, n_queries)
    error = np.where(error > NO_SPREAD, error, np.nan)
    p: Floats = 2 * stdtr(found.df, -np.abs(found.value) / error)
    return p


def compare_pairs(
    measure: str,
    values: Mapping[str, Values],
    clusters: Clusters = ALONE,
    *,
    width: float | None = 1.0,
    seed: int = 7,
    matters: float | None = None,
) -> tuple[Comparison, ...]:
    """Every pair of `values` (agent to query to value), Holm-corrected over all of them, in the order of `values`.

    clusters: of the queries, by section; one that it does not have is its own. width: how far apart two values can be.
    matters: the smallest difference that matters; agents that differ by less are practically equal, also where the
    difference itself is beyond chance.
    """
    names = list(combinations(values, 2))
    matched = pairs_by_query(list(values.values()), clusters)
    found = [pair.over_sections() if len(pair.gaps) else None for pair in matched]
    flips = [flip_p(pair.clusters.sums(pair.gaps), seed) for pair in matched]
    p = [
        None if one is None else _six(float(t_p(one, len(pair.gaps)))) for one, pair in zip(found, matched, strict=True)
    ]
    # Without spread t is not defined: every query says the same, and the permutation can still tell how surely.
    adjusted = holm([one if one is not None else flip for one, flip in zip(p, flips, strict=True)])
    return tuple(
        _comparison(measure, *name, pair, one, (p[i], flips[i], adjusted[i]), LEVEL / len(names), width, matters)
        for i, (name, pair, one) in enumerate(zip(names, matched, found, strict=True))
    )


def _comparison(
    measure: str,
    a: str,
    b: str,
    pair: Paired,
    found: Estimate | None,
    p: tuple[float | None, float | None, float | None],
    level: float,
    width: float | None,
    matters: float | None,
) -> Comparison:
    """`p`: of the t-test, of the sign flips, and Holm's. `level`: two-sided, of one pair among all."""
    figure = pair.difference(width)
    equal = matters is not None and pair.is_within(matters, width)
    verdict = PRACTICALLY_EQUAL if equal else pair_verdict(figure.value, p[2])
    least = _detectable(found, len(pair.gaps), level)
    needed = _needed(found, len(pair.gaps), level) if verdict == NOT_DISTINGUISHABLE else None
    return Comparison(
        measure=measure,
        agent_a=a,
        agent_b=b,
        difference=figure,
        n_sections=len(pair.clusters.names),
        effect_size=_effect_size(pair.gaps),
        p_t=p[0],
        p_wilcoxon=_wilcoxon(pair),
        p_sign_flip=p[1],
        p_holm=p[2],
        verdict=verdict,
        sentence=_sentence((a, b, measure), pair, figure, verdict, least, needed, matters),
        detectable=least,
        needed=needed,
        lacking_a=pair.lacking_a,
        lacking_b=pair.lacking_b,
    )


def pair_verdict(difference: float | None, p: float | None) -> PairVerdict:
    """On the first of two from its difference and Holm's p, at `LEVEL`; without a p they cannot be told apart."""
    if p is None or p > LEVEL or not difference:
        return NOT_DISTINGUISHABLE
    return "better" if difference > 0 else "worse"


def _effect_size(gaps: Floats) -> float | None:
    """Cohen's d_z; None where it is not defined."""
    spread = gaps.std(ddof=1) if len(gaps) > 1 else 0.0
    return round(float(gaps.mean() / spread), DIGITS) if spread > NO_SPREAD else None


def _wilcoxon(pair: Paired) -> float | None:
    """Wilcoxon's signed-rank test of the section means, those of 0 left out (Biometrics Bulletin 1, 1945).

    Exact for up to 50 sections whose differences are all of other sizes, else by its normal approximation.
    """
    if not len(pair.gaps):
        return None
    from scipy.special import ndtr

    means = np.round(pair.clusters.sums(pair.gaps) / pair.clusters.sizes, DIGITS)
    means = means[means != 0]
    if not len(means):
        return None
    _, place, often = np.unique(np.abs(means), return_inverse=True, return_counts=True)
    if len(means) <= _EXACT_WILCOXON and len(often) == len(means):
        from scipy.stats import wilcoxon

        return _six(float(wilcoxon(means, method="exact").pvalue))
    ranks, n = np.cumsum(often) - (often - 1) / 2, len(means)
    beyond = float(ranks[place][means > 0].sum()) - n * (n + 1) / 4
    error = sqrt(n * (n + 1) * (2 * n + 1) / 24 - float((often.astype(np.float64) ** 3 - often).sum()) / 48)
    return _six(2 * float(ndtr(-abs(beyond) / error)))


def _detectable(found: Estimate | None, n_queries: int, level: float) -> float | None:
    if found is None or found.n_clusters < 2:
        return None
    error = float(tested_error(found, n_queries))
    return round(detectable(error, float(found.df), level), DIGITS) if error >= NO_SPREAD else None


def _needed(found: Estimate | None, n_queries: int, level: float) -> NeededQueries | None:
    if found is None or found.n_clusters < 2 or found.error < NO_SPREAD:
        return None
    units, each = found.n_clusters.astype(np.float64), n_queries / float(found.n_clusters)
    ends = needed_interval(found.value / found.error, found.df, units, level)
    value, low, high = (float(end) * each for end in ends)
    return NeededQueries(value=_count(value), ci_low=_count(low) or MOST, ci_high=_count(high))


def _count(queries: float) -> int | None:
    return int(np.ceil(queries - 1e-6)) if isfinite(queries) and queries <= MOST else None


def _sentence(
    names: tuple[str, str, str],
    pair: Paired,
    figure: Figure,
    verdict: PairVerdict,
    least: float | None,
    needed: NeededQueries | None,
    matters: float | None,
) -> str:
    a, b, measure = names
    if figure.value is None:
        return f"{a} and {b} have no query in common on {measure}."
    queries = "this 1 query" if figure.n == 1 else f"these {figure.n} queries"
    if verdict == PRACTICALLY_EQUAL:
        return f"{a} and {b} are practically equal on {measure}: they differ by less than {matters:g} with {queries}."
    if verdict != NOT_DISTINGUISHABLE:
        return f"{a} is {verdict} than {b} on {measure}, by {abs(figure.value):.3f} with {queries}."
    said = f"{a} and {b} are not distinguishable with {queries} on {measure}"
    if figure.n > 1 and len(pair.clusters.names) == 1:
        said += ": they all come from one section, and stand for one"
    if least is not None:
        said += f": a difference below {least:.2g} could well have been missed"
    return said + _would_decide(figure.n, needed) + "."


def _would_decide(n: int, needed: NeededQueries | None) -> str:
    if needed is None:
        return ""
    end = f"to {needed.ci_high:,}" if needed.ci_high is not None else "and up, without end"
    if needed.value is None:
        return f"; no number of queries would decide a difference of 0 ({needed.ci_low:,} {end})"
    more = max(needed.value - n, 0)
    return f"; about {more:,} more queries would decide it ({needed.value:,} in all; 95%: {needed.ci_low:,} {end})"


def _six(p: float) -> float | None:
    return six_digits(p) if isfinite(p) else None
