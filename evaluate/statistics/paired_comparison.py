"""All pairs of agents on one measure: what differs, how surely, and if not, what it would take.

Values are matched by query id. Queries of one section are not independent, so every test is over sections. The
clustered t-test decides, where queries share sections its error with the jackknife's correction (CR3), which keeps
Holm's far tails honest with few sections (`benchmarks/coverage/comparisons.py`). Wilcoxon's test of section means and
the sign-flip permutation of section sums stand beside it; where each query is its own section all three are the
textbook's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, compress
from math import isfinite, isnan, sqrt

import numpy as np

from ragassay.arrays import Floats, Truths
from ragassay.records import Figure

from ..inputs.clusters import ALONE, Clusters
from ..results import NOT_DISTINGUISHABLE, PRACTICALLY_EQUAL, Comparison, NeededQueries, PairVerdict
from .clustered import NO_SPREAD, Estimate, Values, estimate, interval, intervals
from .power import MOST, detectable, needed_interval
from .resamples import DIGITS, holm, rounded, six_digits
from .sign_flip import flip_ps

_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class ValueTable:
    """The values of agents on a measure. ids: of the queries, sorted. known: (agents, queries), NaN where an agent has
    none; owed: (agents, queries), where it is asked for one; asked: (agents, queries), where the agent was asked at
    all; None: everywhere."""

    agents: tuple[str, ...]
    ids: Sequence[str]
    known: Floats
    owed: Truths
    asked: Truths | None = None

    @classmethod
    def of(cls, values: Mapping[str, Values], not_asked: Collection[tuple[str, str]] = ()) -> ValueTable:
        """From agent to query to value. not_asked: (query id, agent) that a plan left out: none is lacking there."""
        ids = sorted(set().union(*values.values()))
        known, owed = np.empty((len(values), len(ids))), np.ones((len(values), len(ids)), dtype=bool)
        for place, row in enumerate(values.values()):
            known[place] = np.array(list(map(row.get, ids)), dtype=np.float64)
            if len(row) < len(ids):
                owed[place] = [query in row for query in ids]
        asked = (
            np.array([[(query, agent) not in not_asked for query in ids] for agent in values]) if not_asked else None
        )
        return cls(tuple(values), ids, known, owed, asked)


Lacking = tuple[tuple[str, ...], tuple[str, ...]]
"""The ids, sorted, on which the first and the second of a pair have no value."""


@dataclass(frozen=True)
class Gaps:
    """The differences of pairs that have values on the same queries.

    places: of each pair in the order of `itertools.combinations`. gaps: (pairs, queries). clusters: of these queries.
    """

    places: Sequence[int]
    gaps: Floats
    clusters: Clusters
    lacking: Sequence[Lacking]


def gaps_of_pairs(values: ValueTable, clusters: Clusters = ALONE) -> Iterator[Gaps]:
    """Every two of `values`, the first less the second, in blocks of bounded size."""
    ids, owed, known = values.ids, values.owed, values.known
    there = ~np.isnan(known)
    alike: dict[bytes, list[tuple[int, int, int]]] = {}
    for place, (one, other) in enumerate(combinations(range(len(known)), 2)):
        alike.setdefault((there[one] & there[other]).tobytes(), []).append((place, one, other))
    of_all = clusters.of(ids)
    step = max(1, _AT_ONCE // max(1, len(ids)))
    for key, pairs in alike.items():
        both = np.frombuffer(key, dtype=bool)
        mine = of_all.only(both)
        for start in range(0, len(pairs), step):
            places, first, second = (list(part) for part in zip(*pairs[start : start + step], strict=True))
            asked = owed[first] | owed[second]
            if values.asked is not None:
                asked &= values.asked[first] & values.asked[second]
            lacking = [
                [tuple(compress(ids, row.tolist())) if row.any() else () for row in asked & ~there[side]]
                for side in (first, second)
            ]
            gaps = known[first] - known[second]
            yield Gaps(places, gaps if both.all() else gaps[:, both], mine, list(zip(*lacking, strict=True)))


def pair_sentence(
    names: tuple[str, str, str],
    figure: Figure,
    n_sections: int,
    verdict: PairVerdict,
    least: float | None,
    needed: NeededQueries | None,
    matters: float | None,
    *,
    lower_is_better: bool = False,
) -> str:
    """names: the two agents and the measure. figure: their difference. least: the smallest that could be shown."""
    a, b, measure = names
    if figure.value is None:
        return f"{a} and {b} have no query in common on {measure}."
    queries = "this 1 query" if figure.n == 1 else f"these {figure.n} queries"
    if verdict == PRACTICALLY_EQUAL:
        return f"{a} and {b} are practically equal on {measure}: they differ by less than {matters:g} with {queries}."
    if verdict != NOT_DISTINGUISHABLE:
        way = " (lower is better)" if lower_is_better else ""
        return f"{a} is {verdict} than {b} on {measure}{way}, by {abs(figure.value):.3f} with {queries}."
    said = f"{a} and {b} are not distinguishable with {queries} on {measure}"
    if figure.n > 1 and n_sections == 1:
        said += ": they all come from one section, and stand for one"
    if least is not None:
        said += f": a difference below {least:.2g} could well have been missed"
    if needed is None:
        return f"{said}."
    end = f"to {needed.ci_high:,}" if needed.ci_high is not None else "and up, without end"
    if needed.value is None:
        return f"{said}; no number of queries would decide a difference of 0 ({needed.ci_low:,} {end})."
    more, low = max(needed.value - figure.n, 0), needed.ci_low
    return f"{said}; about {more:,} more queries would decide it ({needed.value:,} in all; 95%: {low:,} {end})."


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
    def lacking(self) -> int:
        """On how many queries some side has no value."""
        return len({*self.lacking_a, *self.lacking_b})

    def difference(self, width: float | None) -> Figure:
        """The mean with its interval; `width` is that of the measure's range, if it has one."""
        if not len(self.gaps):
            return Figure(value=None, n=0, n_failed=self.lacking)
        value, low, high = self.ends(width, 0.95)
        return rounded(value, len(self.gaps), self.lacking, low, high)

    def ends(self, width: float | None, confidence: float) -> tuple[float, float | None, float | None]:
        """The mean with its interval, of at least one query; `width` as for `difference`."""
        limits = (-width, width) if width is not None else None
        counts = np.ones(len(self.gaps))
        return interval(self.gaps, counts, self.clusters, limits, difference=True, confidence=confidence)


def pair_by_query(a: Values, b: Values, clusters: Clusters = ALONE) -> Paired:
    """Match two agents' values by query id; None is a value that is not there. The order of ids does not matter."""
    return pairs_by_query((a, b), clusters)[0]


def pairs_by_query(values: Sequence[Values], clusters: Clusters = ALONE) -> list[Paired]:
    """Every two of `values` so matched, the first less the second, in the order of `itertools.combinations`."""
    table = ValueTable.of({str(place): row for place, row in enumerate(values)})
    found = {
        place: Paired(block.clusters, row, *lacking)
        for block in gaps_of_pairs(table, clusters)
        for place, row, lacking in zip(block.places, block.gaps, block.lacking, strict=True)
    }
    return [found[place] for place in range(len(found))]


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
    given: ValueTable | Mapping[str, Values],
    clusters: Clusters = ALONE,
    width: float | None = 1.0,
    seed: int = 7,
    matters: float | None = None,
    lower_is_better: bool = False,
    *,
    beside: bool = True,
    leader: FromLeader | None = None,
) -> tuple[Comparison, ...]:
    """Every pair of agents, Holm-corrected over all of them, in the order of `given` (or agent to query to value).

    clusters: of the queries, by section; one that it does not have is its own. width: how far apart two values can be.
    matters: the smallest difference that matters; agents that differ by less are practically equal, also where the
    difference itself is beyond chance. lower_is_better: which way the verdicts go; differences are a - b either way.
    leader: who leads on this measure and what the ladder says of it against each other; Holm's correction is then over
    the other pairs alone.
    beside: whether Wilcoxon's test and the sign-flip permutation are worked out too. The latter is dear; without it,
    it is there only where it decides.
    """
    values = given if isinstance(given, ValueTable) else ValueTable.of(given)
    names = list(combinations(values.agents, 2))
    rows: dict[int, _Tested] = {}
    for block in gaps_of_pairs(values, clusters):
        rows |= zip(block.places, _tested(block, width, seed, LEVEL / len(names), matters, beside), strict=True)
    tested = [rows[place] for place in range(len(names))]
    # Without spread t is not defined: every query says the same, and the permutation can still tell how surely.
    plain = [row.p_t if row.p_t is not None else row.p_sign_flip for row in tested]
    theirs = [leader.other(*pair) if leader else None for pair in names]
    rest = [at for at, other in enumerate(theirs) if other is None]
    adjusted = dict(zip(rest, holm([plain[at] for at in rest]), strict=True))
    verdicts: list[PairVerdict] = []
    for at, (row, other) in enumerate(zip(tested, theirs, strict=True)):
        equal = row.equal
        if leader and other is not None:
            adjusted[at], first = leader.adjusted[other], names[at][0] == leader.name
            tested[at] = row = replace(row, difference=leader.difference(other, turned=not first))
            low, high = leader.differences[other].ci_low, leader.differences[other].ci_high
            equal = matters is not None and _within(matters, low, high) and leader.adjusted[other] > LEVEL
        told = pair_verdict(row.difference.value, adjusted[at], lower_is_better=lower_is_better)
        verdicts.append(PRACTICALLY_EQUAL if equal else told)
    undecided = [row if told == NOT_DISTINGUISHABLE else None for row, told in zip(tested, verdicts, strict=True)]
    needed = _needed(undecided, LEVEL / max(1, len(names)))
    return tuple(
        Comparison(
            measure=measure,
            agent_a=a,
            agent_b=b,
            p_holm=p,
            verdict=told,
            sentence=pair_sentence(
                (a, b, measure),
                row.difference,
                row.n_sections,
                told,
                row.detectable,
                more,
                matters,
                lower_is_better=lower_is_better,
            ),
            needed=more,
            lacking_a=row.lacking[0],
            lacking_b=row.lacking[1],
            **{name: getattr(row, name) for name in _SAME},
        )
        for (a, b), row, p, told, more in zip(
            names, tested, (adjusted[at] for at in range(len(names))), verdicts, needed, strict=True
        )
    )


@dataclass(frozen=True)
class FromLeader:
    """What `ladder.holm_from_leader` says of the agent that leads: by other agent, the leader's values less its own
    with the ladder's interval, and the two-sided p, told at 5%."""

    name: str
    differences: Mapping[str, Figure]
    adjusted: Mapping[str, float]

    def other(self, a: str, b: str) -> str | None:
        """Whom the leader stands against in this pair; None where it is in neither place."""
        found = b if a == self.name else a if b == self.name else None
        return found if found in self.adjusted else None

    def difference(self, other: str, *, turned: bool) -> Figure:
        """The leader less the other; turned: the other less the leader."""
        figure = self.differences[other]
        return figure.turned() if turned else figure


_SAME = ("difference", "n_sections", "effect_size", "p_t", "p_wilcoxon", "p_sign_flip", "detectable")
"""What a comparison has as it was tested."""


@dataclass(frozen=True)
class _Tested:
    """What one pair's differences say. equal: practically. t, df: of their mean over sections, NaN if undefined."""

    difference: Figure
    lacking: Lacking
    equal: bool = False
    n_sections: int = 0
    t: float = float("nan")
    df: float = float("nan")
    effect_size: float | None = None
    p_t: float | None = None
    p_wilcoxon: float | None = None
    p_sign_flip: float | None = None
    detectable: float | None = None


def _tested(
    block: Gaps, width: float | None, seed: int, level: float, matters: float | None, beside: bool
) -> list[_Tested]:
    """Of each pair of the block, side by side. level: two-sided, of one pair among all."""
    n, clusters = block.gaps.shape[1], block.clusters
    lacks = [len({*a, *b}) for a, b in block.lacking]
    if not n:
        nothing = [Figure(value=None, n=0, n_failed=number) for number in lacks]
        return [_Tested(figure, lacking) for figure, lacking in zip(nothing, block.lacking, strict=True)]
    sums = clusters.sums(block.gaps)
    found = estimate(sums, clusters.sizes)
    means = np.round(sums / clusters.sizes, DIGITS)
    ends, equal = _ends(block, width, 0.95), [False] * len(sums)
    if matters is not None:
        # Practically equal by two one-sided tests at `LEVEL` (Schuirmann, Journal of Pharmacokinetics and
        # Biopharmaceutics 15(6), 1987): the 90% interval of the difference lies within -matters and matters.
        equal = [_within(matters, low, high) for _, low, high in _ends(block, width, 1 - 2 * LEVEL)]
    t = np.divide(found.value, found.error, out=np.full(len(sums), np.nan), where=found.error >= NO_SPREAD)
    p, errors = t_p(found, n), tested_error(found, n).tolist()
    # Cohen's d_z.
    spread = block.gaps.std(axis=1, ddof=1) if n > 1 else np.zeros(len(sums))
    sizes = zip(block.gaps.mean(axis=1).tolist(), spread.tolist(), strict=True)
    effects = [round(mean / each, DIGITS) if each > NO_SPREAD else None for mean, each in sizes]
    flipped = [at for at, without_t in enumerate(np.isnan(p).tolist()) if beside or without_t]
    flips = dict(zip(flipped, flip_ps(sums[flipped], seed), strict=True))
    return [
        _Tested(
            difference=rounded(ends[at][0], n, lacks[at], *ends[at][1:]),
            lacking=lacking,
            equal=equal[at],
            n_sections=len(clusters.names),
            t=float(t[at]),
            df=float(found.df),
            effect_size=effects[at],
            p_t=_six(float(p[at])),
            p_wilcoxon=_wilcoxon(means[at]) if beside else None,
            p_sign_flip=flips.get(at),
            detectable=round(detectable(errors[at], float(found.df), level), DIGITS)
            if errors[at] >= NO_SPREAD
            else None,
        )
        for at, lacking in enumerate(block.lacking)
    ]


def _ends(block: Gaps, width: float | None, confidence: float) -> list[tuple[float, float | None, float | None]]:
    """Of each pair the mean difference and its interval, as `interval` has them."""
    limits, ones = (-width, width) if width is not None else None, np.ones(block.gaps.shape[1])
    found = intervals(block.gaps, ones, block.clusters, limits, difference=True, confidence=confidence)
    rows = zip(*(part.tolist() for part in found), strict=True)
    return [(value, None, None) if isnan(low + high) else (value, low, high) for value, low, high in rows]


def _within(matters: float, low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and -matters < low and high < matters


def pair_verdict(difference: float | None, p: float | None, *, lower_is_better: bool = False) -> PairVerdict:
    """On the first of two from its difference and Holm's p, at `LEVEL`; without a p they cannot be told apart."""
    if p is None or p > LEVEL or not difference:
        return NOT_DISTINGUISHABLE
    return "better" if (difference > 0) is not lower_is_better else "worse"


def _wilcoxon(means: Floats) -> float | None:
    """Wilcoxon's signed-rank test of the section means, those of 0 left out (Biometrics Bulletin 1, 1945).

    Exact for up to 50 sections whose differences are all of other sizes, else by its normal approximation.
    """
    means = means[means != 0]
    if not len(means):
        return None
    from scipy.special import ndtr

    order = np.argsort(np.abs(means))
    size, ahead, n = np.abs(means)[order], means[order] > 0, len(means)
    starts = np.flatnonzero(np.concatenate([[True], size[1:] != size[:-1]]))
    often = np.diff(starts, append=n)
    if n <= _EXACT_WILCOXON and len(often) == n:
        from scipy.stats import wilcoxon

        return _six(float(wilcoxon(means, method="exact").pvalue))
    ranks = starts + (often + 1) / 2
    beyond = float(np.repeat(ranks, often)[ahead].sum()) - n * (n + 1) / 4
    error = sqrt(n * (n + 1) * (2 * n + 1) / 24 - float((often.astype(np.float64) ** 3 - often).sum()) / 48)
    return _six(2 * float(ndtr(-abs(beyond) / error)))


def _needed(rows: Sequence[_Tested | None], level: float) -> list[NeededQueries | None]:
    """How many queries would decide each; None for None, and where there is no spread to tell it."""
    found: list[NeededQueries | None] = [None] * len(rows)
    asked = {place: row for place, row in enumerate(rows) if row is not None and not isnan(row.t)}
    if not asked:
        return found
    t, df, units = np.array([(one.t, one.df, one.n_sections) for one in asked.values()], dtype=np.float64).T
    ends = needed_interval(t, df, units, level)
    for (place, one), row in zip(asked.items(), zip(*(end.tolist() for end in ends), strict=True), strict=True):
        value, low, high = (end * (one.difference.n / one.n_sections) for end in row)
        found[place] = NeededQueries(value=_count(value), ci_low=_count(low) or MOST, ci_high=_count(high))
    return found


def _count(queries: float) -> int | None:
    return int(np.ceil(queries - 1e-6)) if isfinite(queries) and queries <= MOST else None


def _six(p: float) -> float | None:
    return six_digits(p) if isfinite(p) else None
