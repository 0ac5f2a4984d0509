"""Krippendorff's alpha: agreement of any number of raters, with labels missing, for labels of any level.

Krippendorff, Content Analysis (3rd edition, 2013), section 12.3; "Computing Krippendorff's Alpha-Reliability" (2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ragassay.arrays import Floats, Ints

from .crosstab import Crosstab, weighted_crosstab

Level = Literal["nominal", "ordinal", "interval"]

_AT_ONCE = 2_000_000
"""Pairs of labels that are looked at together."""
_NOTHING = (np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0))


def coincidences(units: Sequence[Sequence[int | None]], cluster: Ints, n_labels: int) -> Crosstab:
    """The coincidence table: every ordered pair of labels of a unit of m labels counts 1 / (m - 1).

    units: for each unit its raters' labels (numbers on the scale), None where one is missing; a unit with fewer than
    two is not pairable and takes no part. cluster: (units,) numbers from 0.
    """
    labels = np.full((len(units), max(map(len, units), default=0)), -1)
    for place, unit in enumerate(units):
        labels[place, : len(unit)] = [-1 if label is None else label for label in unit]
    step = max(1, _AT_ONCE // max(1, labels.shape[1] ** 2))
    starts = range(0, len(labels), step)
    parts = [_pairs(labels[start : start + step], cluster[start : start + step], n_labels) for start in starts]
    x, y, of, mass = (np.concatenate(sides) for sides in zip(*(parts or [_NOTHING]), strict=True))
    return weighted_crosstab(x, y, of, mass, n_labels)


def _pairs(labels: Ints, cluster: Ints, n_labels: int) -> tuple[Ints, Ints, Ints, Floats]:
    """x, y, cluster and mass of each ordered pair of labels that a unit has, once a unit; labels: (units, raters)."""
    one, other = np.nonzero(~np.eye(labels.shape[1], dtype=bool))
    x, y = labels[:, one], labels[:, other]
    unit, place = np.nonzero((x >= 0) & (y >= 0))
    codes = (unit * n_labels + x[unit, place]) * n_labels + y[unit, place]
    met, often = np.unique(codes, return_counts=True)
    of = met // n_labels**2
    return met // n_labels % n_labels, met % n_labels, cluster[of], often / ((labels[of] >= 0).sum(axis=1) - 1)


def alpha(table: Crosstab, counts: Floats, level: Level, values: Floats | None = None) -> Floats:
    """Alpha for each of the leading entries of `counts` (..., cells): at most 1; NaN where it is undefined.

    alpha = 1 - (n - 1) sum o_ck d_ck / sum n_c n_k d_ck, with d_ck 1 where c and k differ (nominal), (v_c - v_k)^2
    (interval, `values` (n_labels,) being the labels' own), or the square of how many labels lie between c and k, half
    of c's and k's own counted (ordinal). Undefined where all labels are equal.
    """
    by_label, n = table.rows_by_label(counts), counts.sum(axis=-1)
    if level == "nominal":
        observed = counts @ (table.x != table.y).astype(np.float64)
        expected = n**2 - (by_label**2).sum(axis=-1)
    else:
        place = by_label.cumsum(axis=-1) - by_label / 2 if level == "ordinal" else np.asarray(values)
        gaps = place[..., table.x] - place[..., table.y]
        observed = (counts * gaps**2).sum(axis=-1)
        expected = 2 * (n * (by_label * place**2).sum(axis=-1) - (by_label * place).sum(axis=-1) ** 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        value: Floats = 1 - (n - 1) * observed / np.where(expected > 1e-9 * n, expected, np.nan)
    return value
