"""The sign-flip permutation test of sums around 0, a cluster's sum each (Fisher, The Design of Experiments, 1935).

Under the hypothesis that each cluster's sum is as likely to be d as -d, all 2^clusters choices of signs are equally
likely. Of whole numbers their total's distribution is the convolution of the clusters' two-point ones, so nothing need
be drawn. Few are convolved one by one, exactly. Of many, the chances are tilted, that is weighted so that the total
that was seen is the expected one (Keich, Journal of Computational Biology 12(4), 2005), and summed by Fourier's
transform. A transform errs by a part of the largest chance, which then stands where it matters, so that far tails are
as good as near ones. A few frequencies suffice (`coin_sums`); where sizes have too much in common for that, those of
one size are a binomial distribution, and these are convolved.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp

import numpy as np

from ragassay.arrays import Floats, Ints, Truths

from ..inputs.clusters import Clusters
from .coin_sums import tilted_tail
from .resamples import six_digits

DRAWS = 9_999
_AT_ONCE = 256
_ENUMERATED = 14
_WHOLE = (1, 2, 60)
"""Reciprocal ranks down to the sixth are multiples of 1 / 60, labels and their halves of 1 / 2."""

_WIDEST = 10_000_000
"""The largest total whose distribution is worked out: of what has no upper end it may be as large as it likes."""

_FEW = 100
"""So many sums are convolved one by one, work that grows with the square of their number."""
_STEEPEST, _STEPS = 20.0, 60


def flip_p(sums: Floats, seed: int) -> float | None:
    """Two-sided p of the total of `sums` (sections,) over all choices of their signs; None where every sum is 0.

    Exact where the sums are multiples of 1 / 60 that do not come to millions, and up to 14 sections that are not 0;
    else from 9,999 seeded draws, the data themselves counted as one (Phipson and Smyth, 2010).
    """
    return flip_ps(sums[None], seed)[0]


def flip_ps(sums: Floats, seed: int) -> list[float | None]:
    """`flip_p` of each row of `sums` (rows, sections); rows with as many sums have the same signs drawn."""
    found: list[float | None] = [None] * len(sums)
    drawn: dict[int, list[int]] = {}
    factors = _whole_factors(sums)
    for place, (row, factor) in enumerate(zip(sums, factors, strict=True)):
        row = row[np.abs(row) > 1e-9]
        if factor:
            found[place] = sign_flip_p(np.round(row * factor).astype(np.intp))
        elif len(row) <= _ENUMERATED:
            found[place] = _enumerated(row)
        else:
            drawn.setdefault(len(row), []).append(place)
    for size, places in drawn.items():
        rows = sums[places]
        for place, p in zip(places, _drawn(rows[np.abs(rows) > 1e-9].reshape(-1, size), seed), strict=True):
            found[place] = p
    return found


def _whole_factors(sums: Floats) -> list[int]:
    """Of each row the first of `_WHOLE` that makes its sums whole numbers; 0 where none does, or they are too large."""
    found = np.zeros(len(sums), dtype=np.intp)
    widest = np.abs(sums).sum(axis=1)
    for factor in reversed(_WHOLE):
        made = np.where(widest[:, None] * factor <= _WIDEST, sums, 0.5 / factor) * factor
        found[np.abs(np.round(made) - made).max(axis=1, initial=0.0) < 1e-6] = factor
    return [int(factor) for factor in found]


def flip_p_of_rows(rows: Iterable[tuple[str, int]], clusters: Clusters) -> float | None:
    """The same of (query id, whole number) in any number a query, summed by the clusters of the queries."""
    sums = [0] * len(clusters.names)
    for query, value in rows:
        sums[clusters.number(query)] += value
    return sign_flip_p(sums)


def _enumerated(sums: Floats) -> float:
    choices = np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums)) & 1
    return six_digits(_as_far(sums, choices).mean())


def _drawn(rows: Floats, seed: int) -> list[float]:
    """Of each of `rows` (rows, sums)."""
    generator, ordered = np.random.default_rng(seed), np.sort(rows, axis=1)
    far = np.zeros(len(rows), dtype=np.intp)
    for start in range(0, DRAWS, _AT_ONCE):
        heads = generator.integers(0, 2, size=(min(_AT_ONCE, DRAWS - start), rows.shape[1]))
        far += _as_far(ordered, heads).sum(axis=0)
    return [six_digits((1 + count) / (DRAWS + 1)) for count in far.tolist()]


def _as_far(sums: Floats, choices: Ints) -> Truths:
    """(choices, ...): which choices of signs, 1 for less, lead `sums` (..., sums) at least as far from 0.

    Sums that differ in the last digit are one.
    """
    far: Truths = np.abs((1.0 - 2.0 * choices) @ sums.T) >= np.abs(sums.sum(axis=-1)) - 1e-9
    return far


def sign_flip_p(sums: Sequence[int] | Ints) -> float | None:
    """Two-sided p of the sum over clusters (at most 1); None where every cluster's sum is 0."""
    given = np.asarray(sums, dtype=np.intp)
    sizes, total = np.abs(given[given != 0]), abs(int(given.sum()))
    if not len(sizes):
        return None
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
    tail = tilted_tail(size, often, tilt, (whole + least) // 2)
    if tail is None:
        parts = [_binomial(*row) for row in zip(size.tolist(), often.tolist(), (2 * tilt * size).tolist(), strict=True)]
        chances = np.maximum(_convolved(parts)[(whole + least) // 2 :], 0.0)
        tail = float(chances @ np.exp(-2 * tilt * np.arange(len(chances))))
    log_weight = float(often @ (of_minus - np.log(2.0))) + tilt * (whole - least)
    return 2 * exp(log_weight) * tail


def _tilt(size: Ints, often: Ints, total: int) -> float:
    """The tilt under which `total` is expected, by Newton's method, which comes nearer from below."""
    sums, squares = often * size.astype(np.float64), often * size.astype(np.float64) ** 2
    tilt = total / float(squares.sum())
    for _ in range(_STEPS):
        reached = np.tanh(tilt * size)
        slope = float(squares @ (1 - reached**2))
        step = (total - float(sums @ reached)) / slope if slope > 0 else _STEEPEST
        tilt = min(tilt + step, _STEEPEST)
        if abs(step) < 1e-9 * tilt or tilt == _STEEPEST:
            break
    return tilt


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
