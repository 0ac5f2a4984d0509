"""What two runs differ by, row by row: the one test and the one interval of the gate and the workbench's Compare.

A row is an agent on a measure: its gaps, the value of one run less the other's, query by query. Queries of one section
are not independent, so a row's mean has the clustered t-test with the errors that every test here takes
(`tested_error`); where all sections say the same t is not defined, and the sections' signs are flipped: of all choices
of signs only two lead as far (`sign_flip`). Rows that are asked about together are one family, which Holm's correction
is over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ragassay.arrays import Floats, Truths
from ragassay.records import Figure, grouped

from ..inputs.clusters import Clusters
from .clustered import NO_SPREAD, estimate, intervals
from .ladder import FEWEST_SECTIONS
from .paired_comparison import pair_verdict, t_p, tested_error
from .resamples import holm, rounded

Told = Literal["more", "less", "not told apart", "too few"]
_TOLD: dict[str, Told] = {"better": "more", "worse": "less"}


@dataclass(frozen=True)
class PairedRow:
    """A row's mean gap with its 95% interval, n_failed of which are queries that lack a value.

    error, df: as tested; NaN below two sections. n_sections: of the queries with both values. p: two-sided, that the
    gap is no more than `beyond` either way; None where it is not defined. adjusted: Holm's over the row's family. told:
    the side that `adjusted` tells; too few: less than six sections tell nothing.
    """

    difference: Figure
    n_sections: int = 0
    error: float = float("nan")
    df: float = float("nan")
    p: float | None = None
    adjusted: float | None = None
    told: Told = "too few"


def paired(
    gaps: Floats,
    clusters: Clusters,
    widths: Sequence[float | None],
    lacking: Sequence[int],
    beyond: Sequence[float] | None = None,
) -> tuple[PairedRow, ...]:
    """The rows of gaps (rows, queries), NaN where a side has no value, in their order.

    clusters: of the queries. widths: how far two values of a row's measure can be apart, None without limit. lacking:
    the queries of a row on which a value is owed and not there. beyond: what a mean gap must exceed, either way, to be
    told; 0 by default.
    """
    limits = [0.0] * len(gaps) if beyond is None else beyond
    found: dict[int, PairedRow] = {}
    for places, both in alike(~np.isnan(gaps)):
        mine = clusters.only(both)
        for width in dict.fromkeys(widths[place] for place in places):
            some = [place for place in places if widths[place] == width]
            given = [lacking[place] for place in some]
            rows = _tested(gaps[some][:, both], mine, width, given, np.array([limits[place] for place in some]))
            found |= zip(some, rows, strict=True)
    for place, adjusted in enumerate(holm([found[place].p for place in range(len(gaps))])):
        row, told = found[place], found[place].told
        if min(row.difference.n, row.n_sections) >= FEWEST_SECTIONS:
            told = _TOLD.get(pair_verdict(row.difference.value, adjusted), "not told apart")
        found[place] = replace(row, adjusted=adjusted, told=told)
    return tuple(found[place] for place in range(len(gaps)))


def alike(known: Truths) -> Iterator[tuple[list[int], Truths]]:
    """Which rows of known (rows, queries) have values on the same queries, and which these are."""
    groups = grouped((row.tobytes(), place) for place, row in enumerate(known))
    for key, places in groups.items():
        yield places, np.frombuffer(key, dtype=np.bool_)


def figures(found: tuple[Floats, Floats, Floats], n: int, lacking: Sequence[int]) -> list[Figure]:
    """Of (value, low, high) as `intervals` has them, over n queries each; NaN ends are none."""
    rows = zip(*(part.tolist() for part in found), lacking, strict=True)
    return [rounded(value, n, missing, low, high) for value, low, high, missing in rows]


def _tested(
    gaps: Floats, clusters: Clusters, width: float | None, lacking: Sequence[int], beyond: Floats
) -> list[PairedRow]:
    """Of gaps (rows, queries), known everywhere."""
    n = gaps.shape[1]
    if not n:
        return [PairedRow(Figure(value=None, n=0, n_failed=missing)) for missing in lacking]
    sums = clusters.sums(gaps)
    found = estimate(sums, clusters.sizes)
    excess = found.value - np.clip(found.value, -beyond, beyond)
    n_sections, errors = len(clusters.names), tested_error(found, n).tolist()
    p = t_p(replace(found, value=excess), n)
    flipped = np.where(np.abs(excess) > NO_SPREAD, 0.5 ** (n_sections - 1), np.nan)
    decides = np.where(np.isnan(p), flipped, p).tolist()
    return [
        PairedRow(row, n_sections, errors[at], float(found.df), None if np.isnan(decides[at]) else decides[at])
        for at, row in enumerate(figures(gap_intervals(gaps, clusters, width), n, lacking))
    ]


def gap_intervals(gaps: Floats, clusters: Clusters, width: float | None) -> tuple[Floats, Floats, Floats]:
    """(value, low, high) of mean gaps (rows, queries): Student's, its ends moved out where few values changed.

    Where nearly every gap is 0 Student's interval ends too near, as it knows only the few changes that were seen. The
    mean rise and the mean fall are each the mean of values between 0 and `width`, whose intervals hold there; from
    these that of their difference is recovered (Newcombe, Statistics in Medicine 17(8), 1998, method 10; Zou and
    Donner, Statistics in Medicine 27(10), 2008, with their correlation over sections). The farther end is taken; but
    an interval that leaves out 0 keeps its end towards 0, so that it says what the test says.
    """
    ones, limits = np.ones(gaps.shape[1]), None if width is None else (-width, width)
    value, low, high = intervals(gaps, ones, clusters, limits, difference=True)
    if width is None:
        return value, low, high
    rises, falls = np.maximum(gaps, 0.0), np.maximum(-gaps, 0.0)
    rise, fall = (intervals(side, ones, clusters, (0.0, width)) for side in (rises, falls))
    one, other = (
        clusters.sums(side) - mean[:, None] * clusters.sizes for side, (mean, *_) in ((rises, rise), (falls, fall))
    )
    spread = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    correlation = (one * other).sum(axis=1) / np.where(spread > 0, spread, 1.0)
    below = _recovered(rise[0] - rise[1], fall[2] - fall[0], correlation)
    above = _recovered(rise[2] - rise[0], fall[0] - fall[1], correlation)
    low, high = (
        np.where(low > 0, low, np.fmin(low, np.clip(value - below, -width, width))),
        np.where(high < 0, high, np.fmax(high, np.clip(value + above, -width, width))),
    )
    return value, low, high


def _recovered(one: Floats, other: Floats, correlation: Floats) -> Floats:
    return np.asarray(np.sqrt(np.maximum(one**2 + other**2 - 2 * correlation * one * other, 0.0)))
