"""The judge as a detector of what people found relevant (right, acceptable): rates at a threshold.

Each rate is a share of rows: `values` over `counts`, summed, so that it has the clustered interval of a share. Which
is which: Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), section 8.3, equations 8.1 to
8.8; the false-positive rate is over what people found not relevant, the false-negative rate over what they did.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.arrays import Floats, Truths


@dataclass(frozen=True)
class Share:
    """A share of rows: sum(values) / sum(counts), both (rows,); `empty` says in words that nothing is counted."""

    name: str
    values: Floats
    counts: Floats
    empty: str


def detection_shares(human: Truths, judge: Truths) -> list[Share]:
    """Accuracy, precision, recall, F1, false-positive and false-negative rate; both arguments are (rows,)."""
    hit, extra, missed = human & judge, ~human & judge, human & ~judge
    no_human, no_judge = "people labelled nothing as relevant", "the judge labelled nothing as relevant"
    return [
        _share("accuracy", human == judge, np.ones_like(human), "no row has both labels"),
        _share("precision", hit, judge, no_judge),
        _share("recall", hit, human, no_human),
        _share("f1", 2 * hit, 2 * hit + extra + missed, f"{no_human}, nor did the judge"),
        _share("false_positive_rate", extra, ~human, "people labelled everything as relevant"),
        _share("false_negative_rate", missed, human, no_human),
    ]


def near_shares(human: Floats, judge: Floats, within: float = 1.0) -> Share:
    """Off-by-one accuracy: the share of rows whose labels differ by no more than `within`."""
    near = np.abs(human - judge) <= within + 1e-9
    return _share("off_by_one", near, np.ones_like(near), "no row has both labels")


def same_shares(same: Truths) -> Share:
    """The share of rows with equal labels."""
    return _share("agreement", same, np.ones_like(same), "no row has both labels")


def _share(name: str, values: NDArray[Any], counts: NDArray[Any], empty: str) -> Share:
    return Share(name, values.astype(np.float64), counts.astype(np.float64), empty)
