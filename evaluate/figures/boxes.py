"""The box plot of a measure: quartiles, whiskers and outliers (Tukey, Exploratory Data Analysis, 1977, chapter 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isinf

import numpy as np

from ragassay.records import Figure

from ..results import Box, Boxes, Figures
from ..statistics.clustered import ByAgent, Range
from ..statistics.resamples import DIGITS

REACH = 1.5
"""How many interquartile ranges a whisker may be long."""


def boxes_of(*tables: tuple[ByAgent, Figures, Callable[[str], Range | None]]) -> Boxes:
    """The box of every measure of `tables`, each with the measures' means and what gives a measure's scale."""
    boxes: Boxes = {}
    for table, means, scale_of in tables:
        for agent, named in table.items():
            for name, row in named.items():
                boxes.setdefault(agent, {})[name] = box(row, means[agent][name], scale_of(name))
    return boxes


def box(values: Mapping[str, float | None], figure: Figure, scale: Range | None = None) -> Box:
    """The box of one agent's values by query, in their units; None is one that failed and is in no quartile.

    Quartiles are numpy's default (linear, type 7 of Hyndman and Fan 1996). figure: the mean of the same values with its
    interval. scale: the lowest and highest value there can be, where there are such.
    """
    given = np.array(list(values.values()), dtype=np.float64)  # NaN for None
    known = np.sort(np.round(given[~np.isnan(given)], DIGITS))  # what differs in its last bit is no outlier
    lowest, highest = (scale[0], None if isinf(scale[1]) else scale[1]) if scale else (None, None)
    n_failed = len(values) - len(known)
    if not len(known):
        return Box(n=0, n_failed=n_failed, mean=figure, lowest=lowest, highest=highest)
    q1, median, q3 = np.quantile(known, [0.25, 0.5, 0.75])
    low, high = q1 - REACH * (q3 - q1), q3 + REACH * (q3 - q1)
    inside = known[(known >= low) & (known <= high)]
    return Box(
        n=len(known),
        n_failed=n_failed,
        minimum=_kept(known[0]),
        q1=_kept(q1),
        median=_kept(median),
        q3=_kept(q3),
        maximum=_kept(known[-1]),
        low_whisker=_kept(inside[0]),
        high_whisker=_kept(inside[-1]),
        outliers=tuple(_kept(value) for value in known[(known < low) | (known > high)]),
        mean=figure,
        lowest=lowest,
        highest=highest,
    )


def _kept(value: float) -> float:
    return round(float(value), DIGITS)
