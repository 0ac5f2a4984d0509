"""The gate's verdict on each agent and measure, from values paired by query.

A drop is baseline - new, or new - baseline where little is good, clustered by source section. Its verdict is

    not worse   the 95% interval of the drop ends at or below what is tolerated, also if every query on which only the
                new run failed had the worst value there is; or no query's value changed at all;
    worse       else, where the drop exceeds `max_drop` (0 where none was given) beyond noise: one-sided at 2.5%,
                Holm-corrected over agents and measures;
    undecided   neither.

Tolerated is `max_drop`. Where none was given it is, for each measure, the smallest drop in steps of 1% of its range
that a run without any change and with this scatter passes in four cases of five (`statistics.exchanged`), half the
range at most. The interval ends below the truth in 2.5% of runs, whatever is tolerated. A scale without an end has no
range: shares are then of the baseline's mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isinf
from typing import Literal

import numpy as np

from ragassay.arrays import Floats
from ragassay.records import Figure

from ..inputs.clusters import Clusters
from ..statistics.clustered import NO_SPREAD, Values, effective_queries
from ..statistics.exchanged import exchanges, passable, passed_by_most, upper_ends
from ..statistics.holm import holm
from ..statistics.paired_comparison import LEVEL, Paired
from ..statistics.power import detectable

GateVerdict = Literal["not worse", "worse", "undecided"]

STEP = 0.01
"""Of a measure's range: what is tolerated by itself is a multiple of it, and at least one."""

MOST_TOLERATED = 0.5
"""Of a measure's range: what is tolerated by itself is never more."""


@dataclass(frozen=True)
class Scale:
    """A measure's lowest and highest value (infinite where there is no end), and whether little is good."""

    lowest: float = 0.0
    highest: float = 1.0
    lower_is_better: bool = False

    @property
    def worst(self) -> float:
        """The end that is bad."""
        return self.highest if self.lower_is_better else self.lowest

    @property
    def width(self) -> float | None:
        """Of the range; None without an end."""
        return None if isinf(self.highest) else self.highest - self.lowest

    def __str__(self) -> str:
        """`from 0 to 1, lower is better`."""
        end = "up" if isinf(self.highest) else f"to {self.highest:g}"
        return f"from {self.lowest:g} {end}{', lower is better' if self.lower_is_better else ''}"


@dataclass(frozen=True)
class Matched:
    """An agent on a measure in both runs. before: the baseline's values; pair: what got worse, query by query."""

    agent: str
    measure: str
    before: Values
    after: Values
    pair: Paired
    scale: Scale

    @property
    def unit(self) -> float:
        """What shares are of, in the measure's unit: its range, without one the baseline's mean (1 if that is 0)."""
        if self.scale.width is not None:
            return self.scale.width
        known = [value for value in self.before.values() if value is not None]
        return abs(sum(known) / len(known)) or 1.0 if known else 1.0

    @property
    def unchanged(self) -> bool:
        """Whether no query's value differs."""
        gaps = self.pair.gaps
        return bool(len(gaps)) and float(np.abs(gaps).max()) < NO_SPREAD


@dataclass(frozen=True)
class Gated:
    """One agent on one measure. drop: by how much it got worse over the queries both have; n_failed: lacking ones.

    max_drop: what is tolerated; passes: the smallest that, tolerated, an unchanged run with this scatter passes in four
    cases of five on this row alone; shows: the smallest true drop that is called worse in four of five; all in the
    measure's own unit, of which `scale` are the ends and the direction. unchanged: no query's value differs. p:
    one-sided, Holm-corrected. None: not defined.
    lacking_new, lacking_baseline: the ids on which a run has no value.
    """

    agent: str
    measure: str
    scale: Scale
    baseline: float | None
    new: float | None
    drop: Figure
    max_drop: float
    passes: float | None
    shows: float | None
    unchanged: bool
    p: float | None
    verdict: GateVerdict
    lacking_new: tuple[str, ...]
    lacking_baseline: tuple[str, ...]


def gate_rows(
    matched: Sequence[Matched], clusters: Clusters, max_drop: float | None
) -> tuple[tuple[Gated, ...], dict[str, float]]:
    """The row of each, and measure to what a run without any change could pass, both as shares of the range.

    max_drop: tolerated, as a share of each measure's range; None chooses it by what these queries could pass.
    """
    signs = exchanges(clusters)
    ends = [upper_ends(one.pair, one.scale.width, clusters, signs) for one in matched]
    most = passable(ends, [one.measure for one in matched], [one.unit for one in matched])
    could_pass = {measure: max(1, ceil(share / STEP - 1e-6)) * STEP for measure, share in most.items()}
    adjusted = holm([_p(one, (max_drop or 0.0) * one.unit) for one in matched])
    rows = []
    for one, high, p in zip(matched, ends, adjusted, strict=True):
        share = max_drop if max_drop is not None else min(could_pass.get(one.measure, STEP), MOST_TOLERATED)
        rows.append(_row(one, high, p, share, (max_drop or 0.0) * one.unit, len(matched)))
    return tuple(rows), could_pass


def verdict_of(rows: Sequence[Gated]) -> GateVerdict:
    """Of a whole run: worse if any row is, else undecided if any is, else not worse."""
    found = {row.verdict for row in rows}
    return "worse" if "worse" in found else "undecided" if "undecided" in found else "not worse"


def _row(one: Matched, ends: Floats, p: float | None, share: float, beyond: float, n_rows: int) -> Gated:
    """`beyond`: what a drop must exceed to be worse, in the measure's own unit."""
    drop, tolerated = one.pair.difference(one.scale.width), share * one.unit
    return Gated(
        agent=one.agent,
        measure=one.measure,
        scale=one.scale,
        baseline=_mean(one.before, one.pair.queries),
        new=_mean(one.after, one.pair.queries),
        drop=drop,
        max_drop=tolerated,
        passes=None if np.isnan(ends).any() else float(passed_by_most(ends[:, None])[0]),
        shows=_shows(one, beyond, n_rows),
        unchanged=one.unchanged,
        p=p,
        verdict=_verdict(one, drop, p, tolerated),
        lacking_new=one.pair.lacking_b,
        lacking_baseline=one.pair.lacking_a,
    )


def _verdict(one: Matched, drop: Figure, p: float | None, tolerated: float) -> GateVerdict:
    lost = [
        abs(value - one.scale.worst) for query in one.pair.lacking_b if (value := one.before.get(query)) is not None
    ]
    high = 0.0 if one.unchanged else drop.ci_high
    if drop.value is None or high is None:
        passes = False
    else:
        # The worst that the failures of the new run can hide: the worst value on each.
        passes = (drop.n * high + sum(lost)) / (drop.n + len(lost)) <= tolerated + 1e-9
    if passes:
        return "not worse"
    return "worse" if p is not None and p <= LEVEL / 2 else "undecided"


def _p(one: Matched, beyond: float) -> float | None:
    """One-sided p of a mean drop of at most `beyond`; None without two sections."""
    from scipy.special import stdtr

    pair = one.pair
    if not len(pair.gaps):
        return None
    found = pair.over_sections()
    if found.n_clusters < 2:
        return None
    excess = float(found.value) - beyond
    if np.ptp(pair.gaps) < NO_SPREAD:
        if one.scale.width is None:
            # The sections' signs alone, as what another query could gain is not known.
            return 0.5 ** int(found.n_clusters) if excess > 0 else 1.0
        # The largest chance of n like drops where the mean is `beyond`: the others gain all that can be gained.
        elsewhere = max(excess, 0.0) / (float(found.value) + one.scale.width) if excess > 0 else 0.0
        return float((1 - elsewhere) ** effective_queries(pair.clusters.sizes))
    error = float(found.jackknife_error)
    if error < NO_SPREAD:
        return None
    return float(stdtr(found.df, -excess / error))


def _shows(one: Matched, beyond: float, n_rows: int) -> float | None:
    if not len(one.pair.gaps):
        return None
    found = one.pair.over_sections()
    if found.n_clusters < 2 or not found.jackknife_error >= NO_SPREAD:
        return None
    return beyond + detectable(float(found.jackknife_error), float(found.df), LEVEL / n_rows)


def _mean(values: Mapping[str, float | None], queries: Sequence[str]) -> float | None:
    known = [value for query in queries if (value := values.get(query)) is not None]
    return sum(known) / len(known) if known else None
