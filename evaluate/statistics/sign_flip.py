"""The sign-flip permutation test of sums around 0, a cluster's sum each (Fisher, The Design of Experiments, 1935).

Under the hypothesis that each cluster's sum is as likely to be d as -d, all 2^clusters choices of signs are equally
likely. Of whole numbers their total's distribution is the convolution of the clusters' two-point ones, so nothing need
be drawn. Few are convolved one by one, exactly. Of many, those of one size are a binomial distribution, and these are
convolved by Fourier transforms after tilting: chances are weighted so that the total that was seen is the expected one
(Keich, Journal of Computational Biology 12(4), 2005). A transform errs by a part of the largest chance, which then
stands where it matters, so that far tails are as good as near ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp

import numpy as np

from ragassay.arrays import Floats, Ints, Truths

from ..inputs.clusters import Clusters
from .resamples import six_digits

DRAWS = 9_999
_AT_ONCE = 256
_ENUMERATED = 14
_WHOLE = (1, 2, 60)
"""Reciprocal ranks down to the sixth are multiples of 1 / 60, labels and their halves of 1 / 2."""

_FEW = 100
"""So many sums are convolved one by one, work that grows with the square of their number."""
_STEEPEST, _HALVINGS = 20.0, 60


def flip_p(sums: Floats, seed: int) -> float | None:
    """Two-sided p of the total of `sums` (sections,) over all choices of their signs; None where every sum is 0.

    Exact where the sums are multiples of 1 / 60, and up to 14 sections that are not 0; else from 9,999 seeded draws,
    the data themselves counted as one (Phipson and Smyth, 2010).
    """
    sums = sums[np.abs(sums) > 1e-9]
    if not len(sums):
        return None
    for factor in _WHOLE:
        whole = np.round(sums * factor)
        if np.abs(whole - sums * factor).max() < 1e-6:
            return sign_flip_p([int(value) for value in whole])
    return _enumerated(sums) if len(sums) <= _ENUMERATED else _drawn(sums, seed)


def flip_p_of_rows(rows: Iterable[tuple[str, int]], clusters: Clusters) -> float | None:
    """The same of (query id, whole number) in any number a query, summed by the clusters of the queries."""
    sums = [0] * len(clusters.names)
    for query, value in rows:
        sums[clusters.number(query)] += value
    return sign_flip_p(sums)


def _enumerated(sums: Floats) -> float:
    choices = np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums)) & 1
    return six_digits(_as_far(sums, choices).mean())


def _drawn(sums: Floats, seed: int) -> float:
    generator, ordered, far = np.random.default_rng(seed), np.sort(sums), 0
    for start in range(0, DRAWS, _AT_ONCE):
        heads = generator.integers(0, 2, size=(min(_AT_ONCE, DRAWS - start), len(sums)))
        far += int(_as_far(ordered, heads).sum())
    return six_digits((1 + far) / (DRAWS + 1))


def _as_far(sums: Floats, choices: Ints) -> Truths:
    """Which choices of signs, 1 for less, lead at least as far from 0; sums that differ in the last digit are one."""
    far: Truths = np.abs((1.0 - 2.0 * choices) @ sums) >= abs(sums.sum()) - 1e-9
    return far


def sign_flip_p(sums: Sequence[int]) -> float | None:
    """Two-sided p of the sum over clusters (at most 1); None where every cluster's sum is 0."""
    sizes = np.array([abs(value) for value in sums if value], dtype=np.intp)
    if not len(sizes):
        return None
    total = abs(sum(sums))
    return six_digits(min(1.0, _convolved_p(sizes, total) if len(sizes) <= _FEW else _tilted_p(sizes, total)))


def _convolved_p(sizes: Ints, total: int) -> float:
    chances = np.ones(1)
    for size in sizes.tolist():
        wider = np.zeros(len(chances) + 2 * size)
        wider[: len(chances)] += chances / 2
        wider[2 * size :] += chances / 2
        chances = wider
    totals = np.arange(len(chances)) - int(sizes.sum())
    return float(chances[np.abs(totals) >= total].sum())


def _tilted_p(sizes: Ints, total: int) -> float:
    """Chances are by how much of the whole has a plus: n of it make a total of 2 n - whole.

    P(T >= t) is the sum over T >= t of the tilted chances, each times M(h) exp(-h T), M the generating function of T.
    """
    if total == 0:
        return 1.0
    unit = int(np.gcd.reduce(sizes))
    size, often = np.unique(sizes // unit, return_counts=True)
    whole, least = int(size @ often), total // unit
    tilt = _tilt(size, often, least)
    of_minus = np.log1p(np.exp(-2 * tilt * size))
    parts = [_binomial(*row) for row in zip(size.tolist(), often.tolist(), (2 * tilt * size).tolist(), strict=True)]
    tail = np.maximum(_convolved(parts)[(whole + least) // 2 :], 0.0)
    log_weight = float(often @ (of_minus - np.log(2.0))) + tilt * (whole - least)
    return 2 * exp(log_weight) * float(tail @ np.exp(-2 * tilt * np.arange(len(tail))))


def _tilt(size: Ints, often: Ints, total: int) -> float:
    """The tilt under which `total` is expected, by halving."""
    low, high = 0.0, _STEEPEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if float((often * size) @ np.tanh(middle * size)) < total:
            low = middle
        else:
            high = middle
    return high


def _binomial(size: int, n: int, log_odds: float) -> Floats:
    """The chances of 0 to n · `size`, where n are `size` or 0, with these odds of being `size`."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    zeros = np.arange(n, -1, -1)
    chances = np.zeros(n * size + 1)
    chances[::size] = np.exp(logs[n] - logs - logs[::-1] - zeros * log_odds - n * np.log1p(np.exp(-log_odds)))
    return chances


def _convolved(parts: list[Floats]) -> Floats:
    """Two by two, like lengths with like."""
    parts = sorted(parts, key=len)
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [_convolve(one, other) for one, other in pairs] + parts[len(parts) // 2 * 2 :]
    return parts[0]


def _convolve(one: Floats, other: Floats) -> Floats:
    from scipy.fft import next_fast_len

    length = len(one) + len(other) - 1
    fast = next_fast_len(length, real=True)
    whole: Floats = np.fft.irfft(np.fft.rfft(one, fast) * np.fft.rfft(other, fast), fast)
    return whole[:length]
