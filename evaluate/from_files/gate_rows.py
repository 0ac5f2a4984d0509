"""The gate's verdict on each agent and measure, from values paired by query.

A drop is baseline - new, or new - baseline where little is good. Its test and its interval are those of
`statistics.paired`, which the workbench's Compare has too. Asked in this order, a row is

    worse       where the drop exceeds `max_drop` (0 where none was given) beyond noise: at 5% for a change either way,
                Holm-corrected over agents and measures, and from at least six sections;
    not worse   else, where the 95% interval of the drop ends at or below what is tolerated, also if every query on
                which only the new run failed had the worst value there is; or no query's value changed at all;
    undecided   else.

Tolerated is `max_drop`, in the measure's own unit. Where none was given it is `TOLERATED` of the measure's range, or of
the baseline's mean where there is no end, and no row is not worse then whose whole interval is a drop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isfinite
from typing import Literal

import numpy as np

from ragassay.arrays import Floats
from ragassay.records import Figure

from ..figures.values import Scale
from ..inputs.clusters import Clusters
from ..statistics.clustered import NO_SPREAD, Values
from ..statistics.paired import PairedRow, paired
from ..statistics.paired_comparison import LEVEL
from ..statistics.power import MOST, detectable, needed_units

GateVerdict = Literal["not worse", "worse", "undecided"]

TOLERATED = 0.02
"""Of a measure's range: a drop that most would call small."""


@dataclass(frozen=True)
class Matched:
    """An agent on a measure in both runs: the baseline's values and the new run's."""

    agent: str
    measure: str
    before: Values
    after: Values
    scale: Scale

    @property
    def tolerated(self) -> float:
        """What is tolerated unasked, in the measure's unit."""
        if self.scale.width is not None:
            return TOLERATED * self.scale.width
        known = [value for value in self.before.values() if value is not None]
        return TOLERATED * (abs(sum(known) / len(known)) or 1.0) if known else TOLERATED


@dataclass(frozen=True)
class Gated:
    """One agent on one measure. drop: by how much it got worse over the queries both have; n_failed: lacking ones.

    max_drop: what is tolerated. passes: the smallest drop that, tolerated, a run without any change and with this
    scatter passes in four cases of five, and needed: the queries with which it so passes `max_drop`, each on this row
    alone; shows: the smallest true drop that is called worse in four of five. Drops are in the measure's own unit, of
    which `scale` are the ends and the direction. unchanged: no query's value differs. p: two-sided, that the change is
    no more than what was to be tolerated, Holm-corrected. None: not defined.
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
    needed: int | None
    shows: float | None
    unchanged: bool
    p: float | None
    verdict: GateVerdict
    lacking_new: tuple[str, ...]
    lacking_baseline: tuple[str, ...]


def gate_rows(matched: Sequence[Matched], clusters: Clusters, max_drop: float | None) -> tuple[Gated, ...]:
    """The row of each. clusters: of all queries. max_drop: tolerated, in each measure's own unit."""
    before, after = (
        np.array([_column(values, clusters) for values in side])
        for side in ([one.before for one in matched], [one.after for one in matched])
    )
    lacking = [(_lacking(one.after, one.before), _lacking(one.before, one.after)) for one in matched]
    up = np.array([1.0 if one.scale.lower_is_better else -1.0 for one in matched])
    drops = up[:, None] * (after - before)
    found = paired(
        drops,
        clusters,
        [one.scale.width for one in matched],
        [len({*new, *old}) for new, old in lacking],
        beyond=[max_drop or 0.0] * len(matched),
    )
    rows = []
    for at, (one, row, (new, old)) in enumerate(zip(matched, found, lacking, strict=True)):
        both = ~np.isnan(drops[at])
        unchanged = bool(both.any()) and float(np.abs(drops[at][both]).max()) < NO_SPREAD
        tolerated = one.tolerated if max_drop is None else max_drop
        rows.append(
            Gated(
                agent=one.agent,
                measure=one.measure,
                scale=one.scale,
                baseline=_mean(before[at][both]),
                new=_mean(after[at][both]),
                drop=row.difference,
                max_drop=tolerated,
                passes=_detectable(row, LEVEL),
                needed=_needed(row, tolerated),
                shows=_shows(row, max_drop or 0.0, len(matched)),
                unchanged=unchanged,
                p=row.adjusted,
                verdict=_verdict(one, row, new, tolerated, unchanged=unchanged, named=max_drop is not None),
                lacking_new=new,
                lacking_baseline=old,
            )
        )
    return tuple(rows)


def verdict_of(rows: Sequence[Gated]) -> GateVerdict:
    """Of a whole run: worse if any row is, else undecided if any is, else not worse."""
    found = {row.verdict for row in rows}
    return "worse" if "worse" in found else "undecided" if "undecided" in found else "not worse"


def _verdict(
    one: Matched, row: PairedRow, lacking: Sequence[str], tolerated: float, *, unchanged: bool, named: bool
) -> GateVerdict:
    drop = row.difference
    if row.told == "more":
        return "worse"
    high = 0.0 if unchanged else drop.ci_high
    if drop.value is None or high is None or (not named and drop.ci_low is not None and drop.ci_low > 0):
        return "undecided"
    # The worst that the failures of the new run can hide: the worst value on each.
    lost = [abs(value - one.scale.worst) for query in lacking if (value := one.before.get(query)) is not None]
    passes = (drop.n * high + sum(lost)) / (drop.n + len(lost)) <= tolerated + 1e-9
    return "not worse" if passes else "undecided"


def _column(values: Values, clusters: Clusters) -> Floats:
    """(queries,), NaN where there is none."""
    return np.array(list(map(values.get, clusters.queries)), dtype=np.float64)


def _lacking(values: Values, other: Values) -> tuple[str, ...]:
    """The ids, sorted, on which there is no value, of those that either side owes one."""
    return tuple(sorted(query for query in values.keys() | other.keys() if values.get(query) is None))


def _detectable(row: PairedRow, level: float) -> float | None:
    return detectable(row.error, row.df, level) if row.error >= NO_SPREAD else None


def _shows(row: PairedRow, beyond: float, n_rows: int) -> float | None:
    found = _detectable(row, LEVEL / n_rows)
    return None if found is None else beyond + found


def _needed(row: PairedRow, tolerated: float) -> int | None:
    """Of a run without any change: its interval ends below what is tolerated as often as a test tells that from 0."""
    if not row.error >= NO_SPREAD:
        return None
    units = needed_units(np.array(tolerated / (row.error * np.sqrt(row.n_sections))), LEVEL)
    queries = float(units) * row.difference.n / row.n_sections
    return ceil(queries - 1e-6) if isfinite(queries) and queries <= MOST else None


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None
