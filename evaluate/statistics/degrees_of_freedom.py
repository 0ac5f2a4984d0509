"""The degrees of freedom of a mean over clusters of unequal size: those with which Student's t is as wide as need be.

Where sizes differ, the variance is learned from the few large clusters, and these move the mean, too. Satterthwaite's
degrees of freedom count the first under a working model of a cluster's variance (Bell and McCaffrey, Survey Methodology
28(2), 2002; Imbens and Kolesár, Review of Economics and Statistics 98(4), 2016) and leave out the second: they are too
many where values are taken to be independent, and far too few where these are correlated and one cluster is large. So
the distribution of t itself is worked out, which can be done for normal values (Hansen, The Exact Distribution of the
White t-ratio, 2021); the degrees of freedom are those of the Student's t that has the same 95%. The working model is
that values of a cluster stand or fall together: what is asked twice then counts once, and a weaker correlation, down to
a fifth, makes little difference. Clusters of one size have the textbook's, their number less 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod

import numpy as np

from ragassay.arrays import Floats

BEYOND = 0.05
"""What t and Student's t have beyond the same value, both sides together."""

_TURNS = (np.arange(24) + 0.5) * np.pi / 48
"""Midpoints of 0 to a right angle: the integrand is smooth and periodic, so that few do."""
_STEPS, _NEAR = 60, 1e-9


def degrees_of_freedom(counts: Floats) -> Floats:
    """(...) of counts (..., clusters), those of 0 left out; NaN below two clusters."""
    rows = np.sort(counts.reshape(prod(counts.shape[:-1]), counts.shape[-1]), axis=1).astype(np.float64)
    found = [_of_sizes(row[row > 0].tobytes()) for row in rows]
    return np.array(found).reshape(counts.shape[:-1])


@lru_cache(maxsize=4096)
def _of_sizes(sizes: bytes) -> float:
    """Of the sizes of clusters, sorted floats."""
    from scipy.special import stdtridf

    size, often = np.unique(np.frombuffer(sizes), return_counts=True)
    textbook = float(often.sum() - 1)
    if len(size) < 2:
        return textbook if textbook > 0 else np.nan
    beyond = _beyond(size, often.astype(np.float64))
    quantile = beyond(_root(lambda at: float(np.log(beyond(at)[0] / BEYOND)), 0.0))[1]
    found = float(stdtridf(1 - BEYOND / 2, quantile))
    return min(found, textbook) if np.isfinite(found) else textbook


def _beyond(size: Floats, often: Floats) -> Callable[[float], tuple[float, float]]:
    """A way along the quantiles of t: at each place (share of t beyond, quantile), the first growing with the place.

    size: (sizes,) of clusters. often: (sizes,) how many have it. With the whole sum of all values T, in units of its
    own deviation, and the residual totals r = y - share T of the clusters, t is beyond q where T² - q² sum(r² / (1 -
    share)) > 0: a quadratic form with one positive eigenvalue. Its tail is the integral of its characteristic function
    (Gil-Pelaez, Biometrika 38, 1951) along the cut that begins there: the mean over angles of the root of
    cot² / |det(1 - form / (eigenvalue sin²))|. The form is diagonal but for two ranks, so that determinant and
    eigenvalue are sums over clusters; a place is the logarithm of the eigenvalue over q².
    """
    share = size / (often @ size)
    variance = share**2 / (often @ share**2)
    adjusted = variance / (1 - share)

    def parts(at: Floats) -> tuple[Floats, Floats]:
        each = often / (at[:, None] + adjusted)
        own, shared = each @ variance, at * (each @ share)
        return own, shared**2 / own + at * (each @ (share**2 / (1 - share)))

    def at_place(place: float) -> tuple[float, float]:
        at = np.exp(place) * np.append(np.sin(_TURNS) ** 2, 1.0)
        own, inverse_square = parts(at)
        inside, along = at[:-1, None], own[:-1] * (inverse_square[-1] - inverse_square[:-1])
        root = np.log1p(adjusted / inside) @ often + np.log(along) + 2 * np.log(np.tan(_TURNS))
        return float(np.exp(-root / 2).mean()), float(1 / np.sqrt(inverse_square[-1]))

    return at_place


def _root(of: Callable[[float], float], high: float) -> float:
    """Where a growing function is 0, below `high`: by false position, an end that stays weighed down (Illinois)."""
    above, low = of(high), high - 1
    while (below := of(low)) > 0:
        high, above, low = low, below, 2 * low - high - 1
    at, last = low, 0.0
    for _ in range(_STEPS):
        at = (low * above - high * below) / (above - below)
        value = of(at)
        if abs(value) < _NEAR:
            break
        stays = 0.5 if value * last > 0 else 1.0
        if value > 0:
            high, above, below = at, value, below * stays
        else:
            low, below, above = at, value, above * stays
        last = value
    return at
