"""The figures of one agent: a mean with its interval, and a box plot; both by measure."""

from __future__ import annotations

from ragassay.records import Figure, Record

WIN_RATE = "win_rate"
"""What the share of games won is called among the measures."""

POINTS = "points"
"""What ranks and tests agents by their games: the mean over opponents of win 1, tie 1/2, loss 0."""

Figures = dict[str, dict[str, Figure]]
"""Agent to the figure's own spelling (`RR(rel=2)@5`, `accuracy`) to the figure.

A figure's `value` is over `n`; `n_failed` more were owed and failed. Shares run from 0 to 1.
"""


class Box(Record):
    """A box plot of one measure of one agent: Tukey's box and whiskers, and the mean with its interval.

    n: values; n_failed: owed and without a value. q1, median, q3: quartiles (linear between values, as numpy's).
    low_whisker, high_whisker: the farthest values within 1.5 interquartile ranges of the box; outliers: all beyond, in
    order. lowest, highest: the ends of the measure's scale, where it has them. None: no value at all.
    """

    n: int
    n_failed: int = 0
    minimum: float | None = None
    q1: float | None = None
    median: float | None = None
    q3: float | None = None
    maximum: float | None = None
    low_whisker: float | None = None
    high_whisker: float | None = None
    outliers: tuple[float, ...] = ()
    mean: Figure
    lowest: float | None = None
    highest: float | None = None


Boxes = dict[str, dict[str, Box]]
"""Agent to measure to box."""
