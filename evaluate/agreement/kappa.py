"""Cohen's kappa: agreement of two raters beyond what their own label frequencies would give by chance."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ragassay.arrays import Floats

from .crosstab import Crosstab

Weighting = Literal["plain", "linear", "quadratic"]


def disagreement(n_labels: int, weighting: Weighting) -> Floats:
    """(n_labels, n_labels): 0 on the diagonal; elsewhere 1, or the distance in places on the scale, or its square.

    Linear and quadratic weights are those of Cicchetti and Allison (1971) and of Fleiss and Cohen (1973).
    """
    places = np.arange(n_labels, dtype=np.float64)
    distance = np.abs(places[:, None] - places[None, :])
    return {"plain": (distance > 0).astype(np.float64), "linear": distance, "quadratic": distance**2}[weighting]


def kappa(table: Crosstab, counts: Floats, weighting: Weighting = "plain") -> Floats:
    """Kappa for each of the leading entries of `counts` (..., cells): at most 1; NaN where it is undefined.

    Cohen, Educational and Psychological Measurement 20, 1960, equation 1, and with weights Psychological Bulletin 70,
    1968, equation 2: 1 - q_o / q_e, the mean weighted disagreement observed over that expected from the margins. It is
    undefined where none is expected: both raters gave one and the same label throughout.
    """
    weights = disagreement(table.n_labels, weighting)
    observed = counts @ weights[table.x, table.y]
    rows, columns = table.rows_by_label(counts), table.columns_by_label(counts)
    expected = ((rows @ weights) * columns).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        value: Floats = 1 - observed * counts.sum(axis=-1) / np.where(expected > 1e-12, expected, np.nan)
    return value
