"""What each query's value did from one run to another: which rose, which fell, which crossed the middle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragassay.evaluate.statistics.clustered import NO_SPREAD

from ..index.read import Index, Measure
from .same_queries import SameQueries


@dataclass(frozen=True)
class Change:
    """A query of both runs. before, after: its places; flipped: whether it crossed the middle of the scale."""

    before: int
    after: int
    values: tuple[float, float]
    flipped: bool

    @property
    def by(self) -> float:
        """After less before."""
        return self.values[1] - self.values[0]


@dataclass(frozen=True)
class Changes:
    """rows: those that changed, the largest change first. missing: without a value in one run or both."""

    rows: tuple[Change, ...]
    up: int
    down: int
    level: int
    missing: int
    flipped_up: int
    flipped_down: int


def changes_of(before: Index, after: Index, same: SameQueries, measure: Measure, agent: str) -> Changes:
    """Of an agent on a measure that both runs have; up is better. A value at the middle is on neither side."""
    sign = -1 if measure.lower_is_better else 1
    one = before.column(measure.name)[agent][same.before]
    other = after.column(measure.name)[agent][same.after]
    by, middle = sign * (other - one), (measure.low + measure.high) / 2
    moved = np.abs(by) > NO_SPREAD
    crossed = (one - middle) * (other - middle) < 0
    order = np.argsort(-np.abs(np.where(np.isnan(by), 0.0, by)), kind="stable")
    rows = tuple(
        Change(int(same.before[at]), int(same.after[at]), (float(one[at]), float(other[at])), bool(crossed[at]))
        for at in order
        if moved[at]
    )
    missing = int(np.isnan(by).sum())
    up, down = int((by > NO_SPREAD).sum()), int((by < -NO_SPREAD).sum())
    flipped = [int((crossed & (side * by > 0)).sum()) for side in (1, -1)]
    return Changes(rows, up, down, len(by) - missing - up - down, missing, *flipped)
