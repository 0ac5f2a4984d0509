"""Means and differences of what is not independent: queries made from the same section of a document.

The standard error is cluster-robust with Bell and McCaffrey's correction for few clusters (Survey Methodology 28(2),
2002: CR2), its degrees of freedom make Student's t as wide as clusters of unequal size need (`degrees_of_freedom`).
Where each query is its own cluster and stands for one value these are the textbook s / sqrt(n) and n - 1.

Scores lie between two limits and are often at one of them, where the mean is skewed and a symmetric interval misses.
So a mean's interval is Student's t on the logit scale (as Korn and Graubard, Survey Methodology 24(2), 1998, discuss
for proportions), its ends moved out by what the few values seen far from a limit may leave unseen (`mean_interval`); a
difference's is Student's t as it is, but where all that differs differs the same way
(`one_way_interval`). `benchmarks/coverage/comparisons.py` tells how often both hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isinf, prod
from statistics import NormalDist

import numpy as np

from ragassay.arrays import Floats, Ints

from ..inputs.clusters import Clusters

BEYOND = 0.05
"""What t and Student's t have beyond the same value, both sides together."""

_TURNS = (np.arange(24) + 0.5) * np.pi / 48
"""Midpoints of 0 to a right angle: the integrand is smooth and periodic, so that few do."""
_STEPS, _NEAR = 60, 1e-9


def degrees_of_freedom(counts: Floats) -> Floats:
    """(...) of counts (..., clusters), those of 0 left out; NaN below two clusters.

    Where sizes differ, the variance is learned from the few large clusters, and these move the mean, too.
    Satterthwaite's degrees of freedom count the first under a working model of a cluster's variance (Bell and
    McCaffrey, Survey Methodology 28(2), 2002; Imbens and Kolesár, Review of Economics and Statistics 98(4), 2016) and
    leave out the second: they are too many where values are taken to be independent, and far too few where these are
    correlated and one cluster is large. So the distribution of t itself is worked out, which can be done for normal
    values (Hansen, The Exact Distribution of the White t-ratio, 2021); the degrees of freedom are those of the
    Student's t that has the same 95%. The working model is that values of a cluster stand or fall together: what is
    asked twice then counts once, and a weaker correlation, down to a fifth, makes little difference. Clusters of one
    size have the textbook's, their number less 1.
    """
    rows = np.sort(counts.reshape(prod(counts.shape[:-1]), counts.shape[-1]), axis=1).astype(np.float64)
    found = [_of_sizes(row[row > 0].tobytes()) for row in rows]
    return np.array(found).reshape(counts.shape[:-1])


@lru_cache(maxsize=4096)
def _of_sizes(sizes: bytes) -> float:
    """Of the sizes of clusters, sorted floats."""
    size, often = np.unique(np.frombuffer(sizes), return_counts=True)
    textbook = float(often.sum() - 1)
    if len(size) < 2:
        return textbook if textbook > 0 else np.nan
    from scipy.special import stdtridf

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


Values = dict[str, float | None]
"""Query id to a measure's value; None where it failed."""

ByAgent = Mapping[str, Mapping[str, Values]]
"""Agent to measure to values."""

Range = tuple[float, float]
"""The lowest and the highest value that one query can have; infinite where there is no end."""


def limits_of(lowest: float, highest: float) -> Range | None:
    """The ends of a scale as an interval takes them; None where there is no highest value."""
    return None if isinf(highest) else (lowest, highest)


ASSUMED_CORRELATION = 0.5
"""Within a section, where the values are all alike and tell nothing about it."""

PSEUDO_CLUSTERS = 0.06
"""At either limit, of a mean that lies at one; none of a mean in the middle half."""

NO_SPREAD = 1e-12
"""Below this, in units of the scale where it has two limits, figures that differ are the same but for rounding."""


@dataclass(frozen=True)
class Estimate:
    """A ratio of sums over clusters; arrays have the leading shape of the sums, one entry an experiment.

    value: sum / count. error: its standard error (CR2). jackknife_error: with the jackknife's correction (CR3), a
    little larger, for tests far in the tails. df: degrees of freedom of `error`. n_clusters: those with a count. Errors
    and df are NaN below two clusters.
    """

    value: Floats
    error: Floats
    jackknife_error: Floats
    df: Floats
    n_clusters: Ints


def estimate(sums: Floats, counts: Floats) -> Estimate:
    """The ratio of sums, both (..., clusters). A cluster without a count takes no part.

    Bell and McCaffrey: the residual total of a cluster over sqrt(1 - h), h its share of the count; the jackknife's
    (CR3) over 1 - h.
    """
    total = counts.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = sums.sum(axis=-1) / total
        share = counts / total[..., None]
        residual = (sums - value[..., None] * counts) ** 2
        rest = np.where(counts > 0, 1 - share, 1.0)
        n = (counts > 0).sum(axis=-1)
        few = n < 2
        error = np.where(few, np.nan, np.sqrt((residual / rest).sum(axis=-1)) / total)
        jackknife = np.where(few, np.nan, np.sqrt((residual / rest**2).sum(axis=-1)) / total)
    return Estimate(value, error, jackknife, degrees_of_freedom(counts), n)


def t_interval(found: Estimate, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Student's interval, ends of the leading shape; NaN below two clusters."""
    reach = _quantile(found.df, confidence) * found.error
    return found.value - reach, found.value + reach


def logit_interval(found: Estimate, limits: Range, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Student's interval on the logit scale of where the value lies between `limits`; NaN where it lies at one."""
    below, above = _to_limits(found, limits)
    reach = _quantile(found.df, confidence) * found.error / (limits[1] - limits[0])
    ends = _around(below, above, reach, limits)
    inside = (below > 0) & (above > 0)
    return np.where(inside, ends[0], np.nan), np.where(inside, ends[1], np.nan)


def mean_interval(found: Estimate, limits: Range, clusters: float, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """`logit_interval`, or where they lie farther out its ends with pseudo-clusters added at both limits.

    Near a limit the mean and its error both hang on the few values away from it, and where these happen to be scarce
    both are too small. Parts of a cluster at the limits (Agresti and Coull, American Statistician 52(2), 1998, add two)
    pull the mean in and add to its variance: none in the middle half of the scale, then more the nearer a limit is, to
    `PSEUDO_CLUSTERS`. Their part of the variance is known: it has the normal quantile and not Student's.
    clusters: how many of one size there were (Kish).
    """
    low, high = logit_interval(found, limits, confidence)
    normal = NormalDist().inv_cdf((1 + confidence) / 2)
    below, above = _to_limits(found, limits)
    pseudo = PSEUDO_CLUSTERS * np.maximum(0.0, 2 * np.abs(below - above) - 1)
    seen = _quantile(found.df, confidence) * found.error / (limits[1] - limits[0]) * clusters
    with np.errstate(invalid="ignore"):
        total = clusters + 2 * pseudo
        below, above = (below * clusters + pseudo) / total, (above * clusters + pseudo) / total
        reach = np.sqrt(seen**2 + normal**2 * pseudo * (below**2 + above**2)) / total
    ends = _around(below, above, reach, limits)
    return np.minimum(low, ends[0]), np.maximum(high, ends[1])


def _to_limits(found: Estimate, limits: Range) -> tuple[Floats, Floats]:
    """How far the value lies above and below the limits, as shares of the scale; neither rounds the other."""
    width = limits[1] - limits[0]
    return (found.value - limits[0]) / width, (limits[1] - found.value) / width


def _around(below: Floats, above: Floats, reach: Floats, limits: Range) -> tuple[Floats, Floats]:
    """Both ends on the logit scale around a place between the limits; reach: as a share of the scale."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        at, far = np.log(below / above), reach / (below * above)
        # 1 / (1 + exp(-x)), in a form that does not overflow.
        shares = ((1 + np.tanh((at + side * far) / 2)) / 2 for side in (-1, 1))
        low, high = (limits[0] + (limits[1] - limits[0]) * share for share in shares)
    return low, high


def alike_interval(value: Floats, sizes: Floats, limits: Range, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """The interval where every value seen is `value`: what lies elsewhere has a share of at most 1 - (a/2)^(1/n).

    That is the exact limit for n like observations (Clopper and Pearson 1934), and the mean is farthest off where all
    of that share lies at a limit. n: `effective_queries` of `sizes`, the queries of each cluster.
    """
    elsewhere = 1 - ((1 - confidence) / 2) ** (1 / effective_queries(sizes))
    return value - (value - limits[0]) * elsewhere, value + (limits[1] - value) * elsewhere


def one_way_interval(
    found: Estimate, values: Floats, limits: Range, low: Floats, high: Floats, confidence: float = 0.95
) -> tuple[Floats, Floats]:
    """`low` and `high` of a difference, the end away from 0 moved where no query's value (..., queries) points back.

    Such values lie between 0 and a limit, at 0 most often, and a symmetric interval ends too near; the end on the logit
    scale is taken where it is farther. The end towards 0 stays Student's: one query that differs does not rule out 0.
    """
    ahead, behind = values.min(axis=-1) > -NO_SPREAD, values.max(axis=-1) < NO_SPREAD
    above = logit_interval(found, (0.0, limits[1]), confidence)[1]
    below = logit_interval(found, (limits[0], 0.0), confidence)[0]
    return np.where(behind & (below < low), below, low), np.where(ahead & (above > high), above, high)


def effective_queries(sizes: Floats) -> float:
    """How many independent queries `sizes` (queries of each cluster) are worth, correlated by `ASSUMED_CORRELATION`.

    The design effect of Kish (Survey Sampling, 1965, section 5.4).
    """
    mean_size = (sizes**2).sum() / sizes.sum()
    return float(sizes.sum() / (1 + (mean_size - 1) * ASSUMED_CORRELATION))


def interval(
    values: Floats,
    counts: Floats,
    clusters: Clusters,
    limits: Range | None,
    *,
    difference: bool = False,
    confidence: float = 0.95,
) -> tuple[float, float | None, float | None]:
    """(value, low, high) of the ratio of the sums of `values` and `counts`, both (queries,); see `intervals`.

    The ends are None below two queries or clusters, and where nothing varies and no limits are known.
    """
    known = counts > 0
    value, low, high = intervals(
        values[known], counts[known], clusters.where(known), limits, difference=difference, confidence=confidence
    )
    if np.isnan(low) or np.isnan(high):
        return float(value), None, None
    return float(value), float(low), float(high)


def intervals(
    values: Floats,
    counts: Floats,
    clusters: Clusters,
    limits: Range | None,
    *,
    difference: bool = False,
    confidence: float = 0.95,
) -> tuple[Floats, Floats, Floats]:
    """(value, low, high) of the ratio of the sums of values (..., queries) and counts (queries,), all above 0.

    clusters: of these queries, in their order. Where values vary but clusters agree by chance to the last digit, the
    queries' own spread is taken; where values do not vary, `alike_interval`. NaN below two queries or clusters, and
    where nothing varies and no limits are known. Without an end above, limits are no more than where it is cut below.
    """
    value = values.sum(axis=-1) / counts.sum() if len(counts) else np.full(values.shape[:-1], np.nan)
    if limits is None or isinf(limits[1]):
        scale = np.maximum(1.0, np.abs(value))
        found = _spread(values, counts, clusters, scale)
        low, high = (np.where(found.error > NO_SPREAD * scale, end, np.nan) for end in t_interval(found, confidence))
        return value, low if limits is None else np.maximum(low, limits[0]), high
    both, width = limits[0] + limits[1], limits[1] - limits[0]
    # From -1/2 to 1/2: where values lie between the limits. Values turned round (low + high - value) must have the same
    # places with the other sign, to the last bit, lest the two fall on different sides of `NO_SPREAD`. So all are
    # turned round once, and have its rounding.
    places: Floats = (both / 2 - (both - values / counts)) / width
    sizes, halves = clusters.sizes, (-0.5, 0.5)
    found = _spread(places * counts, counts, clusters)
    if difference:
        low, high = t_interval(found, confidence)
        if len(counts):
            low, high = one_way_interval(found, places, halves, low, high, confidence)
    else:
        low, high = mean_interval(found, halves, sizes.sum() ** 2 / max(1.0, float(sizes @ sizes)), confidence)
    alike = np.ptp(places, axis=-1) < NO_SPREAD if len(counts) > 1 else np.zeros(found.value.shape, bool)
    if np.any(alike):
        ends = alike_interval(found.value, sizes[sizes > 0], halves, confidence)
        alike = alike & (found.n_clusters > 1)
        low, high = np.where(alike, ends[0], low), np.where(alike, ends[1], high)
    return value, np.clip(both / 2 + width * low, *limits), np.clip(both / 2 + width * high, *limits)


def _spread(values: Floats, counts: Floats, clusters: Clusters, scale: Floats | float = 1.0) -> Estimate:
    """By clusters, or by queries where clusters agree but in the last digits of `scale`."""
    found = estimate(clusters.sums(values), clusters.sums(counts))
    flat = found.error < NO_SPREAD * scale
    if not np.any(flat):
        return found
    by_query = estimate(values, counts)
    errors = ("error", "jackknife_error", "df")
    own = {name: np.where(flat, getattr(by_query, name), getattr(found, name)) for name in errors}
    return replace(found, **own)


def _quantile(df: Floats, confidence: float) -> Floats:
    from scipy.special import stdtrit

    quantile: Floats = stdtrit(df, (1 + confidence) / 2)
    return quantile
