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


def coincidences(units: Sequence[Sequence[int | None]], cluster: Ints, n_labels: int) -> Crosstab:
    """The coincidence table: every ordered pair of labels of a unit of m labels counts 1 / (m - 1).

    units: for each unit its raters' labels (numbers on the scale), None where one is missing; a unit with fewer than
    two is not pairable and takes no part. cluster: (units,) numbers from 0.
    """
    rows: list[tuple[int, int, int]] = []
    mass: list[float] = []
    for unit, of in zip(units, cluster.tolist(), strict=True):
        labels = [label for label in unit if label is not None]
        pairs = [(a, b, of) for i, a in enumerate(labels) for j, b in enumerate(labels) if i != j]
        rows += pairs
        mass += [1 / (len(labels) - 1)] * len(pairs)
    x, y, clusters = np.array(rows, dtype=np.intp).reshape(-1, 3).T
    return weighted_crosstab(x, y, clusters, np.array(mass), n_labels)


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
