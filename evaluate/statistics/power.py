"""What a set of queries could have shown, and how many would decide: the power of a paired comparison.

A comparison of n queries in sections has `units` sections; its difference over its standard error is Student's t with a
noncentrality of effect · sqrt(units), effect being the difference over the standard deviation of a section's. More
queries are thought of as in new sections, as many in each as here.
"""

from __future__ import annotations

from math import ceil, inf, isfinite
from statistics import NormalDist

import numpy as np

from ragassay.arrays import Floats
from ragassay.records import Figure

from .ppi import Sample, posterior
from .resamples import expanded_tail

REPLICATES, CONFIDENCE = 4000, 0.95


def labels_needed(sample: Sample, half_width: float, seed: int, replicates: int = REPLICATES) -> Figure:
    """The labels needed for a mean known to +- `half_width`, in the values' own unit (0 excluded).

    Whole numbers; None: not with these items, however many. n: how many labels this was told from.

    The corrected mean's variance with n labels on N items is within / n + (spread - within) / N: `within` is what of
    the labels the judge leaves unexplained, `spread` their whole variance, each times N sum(s^2) / sum(s)^2 where items
    count by sizes s (Kish, Survey Sampling, 1965). Both are drawn from `ppi.posterior`, so the answer is a number with
    an interval, and labels on which all agree do not make it 0.

    The interval holds both the one with equal tails, and the shortest with 95% of the draws: the variance of
    a rate has a maximum, which equal tails never reach. Raises ValueError for a half-width that is not above 0.
    """
    if not half_width > 0:
        raise ValueError("half_width must be above 0")
    drawn = posterior(sample, replicates, seed)
    sizes = sample.sizes
    uneven = len(sizes) * float(sizes @ sizes) / float(sizes.sum()) ** 2
    variances = uneven * drawn.within, uneven * drawn.spread
    needed = np.sort(needed_for(*variances, len(sample.judged), half_width))
    tail = expanded_tail(max(2, sample.n_clusters), CONFIDENCE)
    ends = (_shortest(needed), np.quantile(needed, [tail, 1 - tail], method="nearest"))
    numbers = float(np.median(needed)), min(float(end[0]) for end in ends), max(float(end[1]) for end in ends)
    value, low, high = (ceil(number - 1e-9) if isfinite(number) else None for number in numbers)
    return Figure(value=value, n=sample.n_labels, ci_low=low, ci_high=high)


def needed_for(within: Floats | float, spread: Floats | float, n_items: int, half_width: float) -> Floats:
    """The labels needed where the variances are known; infinite where all the items there are do not suffice."""
    quantile = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    room = (half_width / quantile) ** 2 - np.maximum(spread - within, 0) / n_items
    found: Floats = np.where(room > 0, within / np.where(room > 0, room, 1.0), inf)
    return np.where(found > n_items, inf, np.maximum(found, 1.0))


def _shortest(ordered: Floats) -> tuple[float, float]:
    """The shortest interval over 95% of sorted draws; the lowest one where ends are infinite."""
    inside = min(len(ordered) - 1, ceil(CONFIDENCE * len(ordered)))
    low, high = ordered[: len(ordered) - inside], ordered[inside:]
    widths = np.where(np.isfinite(high), high - np.where(np.isfinite(low), low, 0.0), inf)
    best = int(np.argmin(widths)) if np.isfinite(widths).any() else round((len(widths) - 1) / 2)
    return float(low[best]), float(high[best])


POWER = 0.8
MOST = 1_000_000
"""More queries than this are as good as no number at all."""

_STEPS, _NEAR = 100, 1e-12


def detectable(error: float, df: float, level: float) -> float:
    """The smallest true difference that a test at `level` (two-sided) shows with `POWER`: (t + t') · error.

    error: standard error of the difference; df: its degrees of freedom (Cohen, Statistical Power Analysis, 1988).
    """
    from scipy.special import stdtrit

    return float((stdtrit(df, 1 - level / 2) + stdtrit(df, POWER)) * error)


def needed_units(effect: Floats, level: float) -> Floats:
    """How many sections a two-sided t-test at `level` needs for `POWER`; infinite for an effect of 0.

    (z + z')² / effect² + z² / 2 (Guenther, The American Statistician 35(4), 1981), at least 2.
    """
    from scipy.special import ndtri

    z = ndtri(1 - level / 2)
    with np.errstate(divide="ignore"):
        units: Floats = np.maximum(((z + ndtri(POWER)) / np.abs(effect)) ** 2 + z * z / 2, 2.0)
    return units


def effect_interval(t: Floats, df: Floats, units: Floats) -> tuple[Floats, Floats]:
    """The interval of effect, exact where differences are normal: what noncentralities would leave t in their middle.

    Steiger and Fouladi (1997), "Noncentrality interval estimation".
    """
    tail = (1 - CONFIDENCE) / 2
    low, high = _noncentralities(t, df, (1 - tail, tail))
    return low / np.sqrt(units), high / np.sqrt(units)


def needed_interval(t: Floats, df: Floats, units: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    """(estimate, low, high) of the number of sections needed; high is infinite where the effect may be 0."""
    low, high = effect_interval(t, df, units)
    straddles = (low <= 0) & (high >= 0)
    nearest = np.where(straddles, 0.0, np.minimum(np.abs(low), np.abs(high)))
    farthest = np.maximum(np.abs(low), np.abs(high))
    return needed_units(t / np.sqrt(units), level), needed_units(farthest, level), needed_units(nearest, level)


def _noncentralities(t: Floats, df: Floats, probabilities: tuple[float, ...]) -> Floats:
    """(probabilities, ...): the noncentrality under which P(T <= t) is each. P falls as the noncentrality grows.

    On the normal quantile's scale P is nearly a straight line, so that the secant through the last two points finds it
    in a few steps; where it leads out of the known bounds, these are halved.
    """
    from scipy.special import nctdtr, ndtri

    t, df = np.broadcast_arrays(np.asarray(t, dtype=np.float64), np.asarray(df, dtype=np.float64))
    size, sign = np.abs(t), np.where(t >= 0, 1.0, -1.0)
    given = np.reshape(probabilities, (-1, *[1] * t.ndim)) * np.ones_like(t)
    # nctdtr is meant for t >= 0: P(T <= -t; -m) = 1 - P(T <= t; m).
    probability = np.where(sign > 0, given, 1 - given)
    aim, scale = ndtri(probability), np.sqrt(1 + size**2 / (2 * df))
    high = (12 + 3 * size) * np.ones_like(aim)
    low, slope, done = -high, -1 / scale * np.ones_like(aim), np.zeros(aim.shape, dtype=bool)
    last, before, at = np.nan * aim, np.nan * aim, np.clip(size - aim * scale, low, high)
    for _ in range(_STEPS):
        there = nctdtr(df, at, size)
        there = np.where(np.isnan(there) & (at < 0), 1.0, there)  # nctdtr fails at some points of its far tail
        off, short = ndtri(there) - aim, there > probability
        low, high = np.where(short, at, low), np.where(short, high, at)
        with np.errstate(invalid="ignore", divide="ignore"):
            rise = (off - before) / (at - last)
            slope = np.where(np.isfinite(rise), rise, slope)
            ahead = at - off / slope
        done |= np.abs(ahead - at) <= _NEAR * (1 + np.abs(at))
        if done.all():
            break
        last, before = at, off
        inside = (ahead >= low) & (ahead <= high)
        at = np.where(done, at, np.where(inside, ahead, (low + high) / 2))
    found: Floats = sign * at
    return found
