"""Agents by queries as a picture: a row an agent, a column a query or a bin of them, the worst queries first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isinf
from urllib.parse import quote

import numpy as np
from markupsafe import Markup, escape

from ragassay.arrays import Floats
from ragassay.evaluate.report.wording import kind_of, number
from ragassay.text import one_line

from ..index.read import Measure
from .slices import listing

ONE_BY_ONE = 150
"""Queries up to which each has a column of its own."""

BINS = 120
ROW = 26
"""Pixels."""
LEVELS = 9
"""Shades, the darkest the best."""


@dataclass(frozen=True)
class Column:
    """places: of its queries; values: (agents,), the means of those known, NaN where none is."""

    places: tuple[int, ...]
    values: Floats


def heat_columns(values: Floats, places: Sequence[int], *, lower_is_better: bool = False) -> list[Column]:
    """Of values (agents, queries), the queries at `places`: sorted by their mean over the agents, the worst first.

    Queries without any value come last. Bins are as even as can be.
    """
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    counts = known.sum(axis=0)
    means = np.where(counts > 0, filled.sum(axis=0) / np.maximum(counts, 1), np.inf)
    if lower_is_better:
        means = np.where(np.isinf(means), np.inf, -means)
    order = np.argsort(means, kind="stable")
    found = []
    for part in np.array_split(order, min(len(order), BINS) if len(order) > ONE_BY_ONE else max(1, len(order))):
        n = known[:, part].sum(axis=1)
        mean = np.where(n > 0, filled[:, part].sum(axis=1) / np.maximum(n, 1), np.nan)
        found.append(Column(tuple(places[i] for i in part), mean))
    return found


def shaded(measure: Measure, columns: Sequence[Column]) -> Measure:
    """The measure with the ends that shades lie between: without an upper end of its own, the highest mean shown."""
    if not isinf(measure.high):
        return measure
    known = [one.values[~np.isnan(one.values)] for one in columns]
    return replace(measure, high=max((float(row.max()) for row in known if len(row)), default=measure.low))


def heat_map(
    bench: str, agents: Sequence[str], columns: Sequence[Column], measure: Measure, ids: Sequence[str]
) -> Markup:
    """The picture; a column is a link to its query or to the list of its queries. ids: of all queries, by place."""
    width = 100 / max(1, len(columns))
    parts = [_column(bench, agents, one, at * width, width, measure, ids) for at, one in enumerate(columns)]
    label = escape(f"{len(agents)} agents by {sum(len(one.places) for one in columns)} queries, the worst first")
    height = ROW * len(agents)
    inside = "".join(parts)
    return Markup(f'<svg class="heatmap" height="{height}" role="group" aria-label="{label}">{inside}</svg>')  # noqa: S704


def _column(
    bench: str, agents: Sequence[str], one: Column, x: float, width: float, measure: Measure, ids: Sequence[str]
) -> str:
    single = len(one.places) == 1
    href = f"/{bench}/queries/{quote(ids[one.places[0]])}" if single else listing(bench, sorted(one.places))
    what = one_line(ids[one.places[0]]) if single else f"{len(one.places)} queries"
    kind = kind_of(measure.name)
    told = [
        f"{one_line(agent)} {'no value' if np.isnan(value) else number(float(value), kind)}"
        for agent, value in zip(agents, one.values, strict=True)
    ]
    title = escape(f"{what}: {', '.join(told)}")
    cells = "".join(
        f'<rect class="{_shade(float(value), measure)}" x="{x:.3f}%" y="{ROW * row}" '
        f'width="{width + 0.02:.3f}%" height="{ROW - 2}"/>'
        for row, value in enumerate(one.values)
    )
    return f'<a href="{escape(href)}" tabindex="-1"><title>{title}</title>{cells}</a>'


def _shade(value: float, measure: Measure) -> str:
    """`h0` to `h8`, by where the value lies between the ends of its scale; `hx` where there is none."""
    if np.isnan(value) or measure.high <= measure.low:
        return "hx"
    share = (value - measure.low) / (measure.high - measure.low)
    share = 1 - share if measure.lower_is_better else share
    return f"h{round(min(max(share, 0.0), 1.0) * (LEVELS - 1))}"
