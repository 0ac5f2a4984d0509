"""What a set of queries could have shown, and how many would decide: the power of a paired comparison.

A comparison of n queries in sections has `units` sections; its difference over its standard error is Student's t with a
noncentrality of effect · sqrt(units), effect being the difference over the standard deviation of a section's. More
queries are thought of as in new sections, as many in each as here.
"""

from __future__ import annotations

import numpy as np

from ragassay.arrays import Floats

POWER = 0.8
MOST = 1_000_000
"""More queries than this are as good as no number at all."""

_HALVINGS = 60


def detectable(error: float, df: float, level: float, power: float = POWER) -> float:
    """The smallest true difference that a test at `level` (two-sided) shows with `power`: (t + t') · error.

    error: standard error of the difference; df: its degrees of freedom (Cohen, Statistical Power Analysis, 1988).
    """
    from scipy.special import stdtrit

    return float((stdtrit(df, 1 - level / 2) + stdtrit(df, power)) * error)


def needed_units(effect: Floats, level: float, power: float = POWER) -> Floats:
    """How many sections a two-sided t-test at `level` needs for `power`; infinite for an effect of 0.

    (z + z')² / effect² + z² / 2 (Guenther, The American Statistician 35(4), 1981), at least 2.
    """
    from scipy.special import ndtri

    z = ndtri(1 - level / 2)
    with np.errstate(divide="ignore"):
        units: Floats = np.maximum(((z + ndtri(power)) / np.abs(effect)) ** 2 + z * z / 2, 2.0)
    return units


def effect_interval(t: Floats, df: Floats, units: Floats, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """The interval of effect, exact where differences are normal: what noncentralities would leave t in their middle.

    Steiger and Fouladi (1997), "Noncentrality interval estimation"; each end by halving.
    """
    tail = (1 - confidence) / 2
    low, high = _noncentralities(t, df, (1 - tail, tail))
    return low / np.sqrt(units), high / np.sqrt(units)


def needed_interval(
    t: Floats, df: Floats, units: Floats, level: float, confidence: float = 0.95
) -> tuple[Floats, Floats, Floats]:
    """(estimate, low, high) of the number of sections needed; high is infinite where the effect may be 0."""
    low, high = effect_interval(t, df, units, confidence)
    straddles = (low <= 0) & (high >= 0)
    nearest = np.where(straddles, 0.0, np.minimum(np.abs(low), np.abs(high)))
    farthest = np.maximum(np.abs(low), np.abs(high))
    return (
        needed_units(t / np.sqrt(units), level),
        needed_units(farthest, level),
        needed_units(nearest, level),
    )


def _noncentralities(t: Floats, df: Floats, probabilities: tuple[float, ...]) -> Floats:
    """(probabilities, ...): the noncentrality under which P(T <= t) is each. P falls as the noncentrality grows."""
    from scipy.special import nctdtr

    t, df = np.broadcast_arrays(np.asarray(t, dtype=np.float64), np.asarray(df, dtype=np.float64))
    probability = np.reshape(probabilities, (-1, *[1] * t.ndim))
    reach, size, ahead = (12 + 3 * np.abs(t)) * np.ones_like(probability), np.abs(t), t >= 0
    low, high = -reach, reach.copy()
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        # nctdtr is meant for t >= 0: P(T <= -t; -m) = 1 - P(T <= t; m).
        there = nctdtr(df, np.where(ahead, middle, -middle), size)
        above = np.where(ahead, there, 1 - there) > probability
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    found: Floats = (low + high) / 2
    return found
