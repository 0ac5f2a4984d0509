"""The covariance of systems over real queries, known badly from a few, drawn towards that of the written ones.

Written queries are many, and what they are off by is their means more than how systems vary together. The weight of
their covariance, brought to the same total, is chosen by the data: it is the one with the least expected squared error,
the variance of the real covariance's elements by how far the two lie apart (Ledoit and Wolf, Journal of Empirical
Finance 10(5), 2003; without a bias: Schaefer and Strimmer, Stat. Appl. Genet. Mol. Biol. 4(1), 2005, eq. 8).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragassay.arrays import Floats


class Shrunk(NamedTuple):
    """covariance: (systems, systems). weight: of the written queries' covariance, 0 to 1. df: degrees of freedom."""

    covariance: Floats
    weight: float
    df: int


def shrunk(real: Floats, written: Floats) -> Shrunk:
    """From values (systems, queries), two real and two written queries at least.

    df: those of the real queries, divided by what is left of their weight, and no more than there are queries. Where
    systems never differ on written queries the real ones stand alone, and the other way round nothing is known.
    """
    n, n_written = real.shape[1], written.shape[1]
    of_real, target = (np.atleast_2d(np.cov(values)) for values in (real, written))
    total = float(np.trace(target))
    if total <= 0:
        return Shrunk(of_real, 0.0, n - 1)
    target = target * (float(np.trace(of_real)) / total)
    apart = float(((of_real - target) ** 2).sum())
    weight = min(1.0, max(0.0, _variance(real)) / apart) if apart > 0 else 1.0
    most = n + n_written - 2
    df = most if weight == 1.0 else min(most, int((n - 1) / (1 - weight)))
    return Shrunk((1 - weight) * of_real + weight * target, weight, df)


def _variance(values: Floats) -> float:
    """The summed variance of the elements of the covariance of values (systems, queries)."""
    n = values.shape[1]
    centred = values - values.mean(axis=1, keepdims=True)
    squares = float(((centred**2).sum(axis=0) ** 2).sum())
    of_means = float(((centred @ centred.T) ** 2).sum()) / n
    return float((squares - of_means) * n / (n - 1) ** 3)
