"""Balanced accuracy: the mean of the shares of people's yes and of their no that the judge finds."""

from __future__ import annotations

import numpy as np

from ragassay.arrays import Floats
from ragassay.records import Figure

from ..crosstab import Crosstab


def balanced_accuracy(table: Crosstab, counts: Floats) -> Floats:
    """(recall + specificity) / 2 for each of the leading entries of `counts` (..., cells), from 0 to 1; a coin has 0.5.

    Labels are 0, no, and 1, yes; rows are people's. NaN where people said only the one or the other. It is Youden's
    index J (Cancer 3(1), 1950) on another scale: (J + 1) / 2.
    """
    right = (counts * (table.x == table.y))[..., None, :] * (table.x == np.arange(2)[:, None])
    total = table.rows_by_label(counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (right.sum(axis=-1) / np.where(total > 0, total, np.nan)).mean(axis=-1)
    return found


def from_zero(figure: Figure) -> Figure:
    """The same where nothing lies below 0; correlations do, and share the interval."""
    return figure if figure.ci_low is None else figure.model_copy(update={"ci_low": max(0.0, figure.ci_low)})
