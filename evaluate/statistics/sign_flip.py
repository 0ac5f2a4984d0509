"""The sign-flip permutation test of sums around 0, a cluster's sum each (Fisher, The Design of Experiments, 1935).

Under the hypothesis that each cluster's sum is as likely to be d as -d, all 2^clusters choices of signs are equally
likely. Of whole numbers their total's distribution is the convolution of the clusters' two-point ones, so nothing need
be drawn. Few are convolved one by one, exactly. Of many, the chances are tilted, that is weighted so that the total
that was seen is the expected one (Keich, Journal of Computational Biology 12(4), 2005), and summed by Fourier's
transform. A transform errs by a part of the largest chance, which then stands where it matters, so that far tails are
as good as near ones. A few frequencies suffice (`tilted_tail`); where sizes have too much in common for that, those of
one size are a binomial distribution, and these are convolved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, exp, sqrt
from statistics import fmean

import numpy as np

from ragassay.arrays import Floats, Ints, Truths
from ragassay.records import Figure

from ..inputs.clusters import Clusters
from ..results import PairedTest
from .clustered import Values
from .resamples import DIGITS, rounded, six_digits

_LOG = 36.0
"""What is left out is below exp(-36), 2e-16, as a chance and as a value of the transform."""

_LARGEST, _MOST = 1024, 200_000
"""Sizes, and sizes times frequencies, beyond which a convolution is as fast."""


def tilted_tail(size: Ints, often: Ints, tilt: float, least: int) -> float | None:
    """The sum over j >= 0 of P(Y = least + j) exp(-2 tilt j); None where it would take too many frequencies.

    The transform of a sum of hundreds of tosses is all but 0 except near frequency 0, and near a few more where most
    sizes are multiples of one number, so that a handful of its values give each chance. Where it is all but 0 is worked
    out from a bound on it; were it so nearly nowhere, nothing is returned.

    Y is the sum of independent tosses, `often` of each `size` (whole numbers, as many of each), that are `size` with
    probability 1 / (1 + exp(-2 tilt size)), else 0. least: the mean of Y, but for rounding.
    """
    if size[-1] > _LARGEST:
        return None
    ahead = 1 / (1 + np.exp(-2 * tilt * size))
    # How far from its mean Y has less than 2 exp(-_LOG), by Hoeffding's or by Bernstein's inequality. A transform twice
    # as wide does not fold the tails back to where they would be seen.
    squares, third = often * size.astype(np.float64) ** 2, float(size[-1]) * _LOG / 3
    bernstein = third + sqrt(third**2 + 2 * _LOG * float(squares @ (ahead * (1 - ahead))))
    far = ceil(min(sqrt(float(squares.sum()) * _LOG / 2), bernstein))
    width = 2 * far + 1
    frequency = np.arange(far + 1, dtype=np.float64) * (2 * np.pi / width)
    frequency = frequency[_peaks(size, 4 * often * ahead * (1 - ahead), frequency)]
    if len(frequency) * len(size) > _MOST:
        return None
    # The logarithm of the transform's absolute value and its angle: products of 1 - p + p exp(i w size).
    half, counts = frequency[:, None] * (size / 2), often.astype(np.float64)
    sine, cosine = np.sin(half), np.cos(half)
    logs = np.log1p(-4 * ahead * (1 - ahead) * sine**2) @ counts / 2
    angles = np.arctan2(2 * ahead * sine * cosine, 1 - 2 * ahead * sine**2) @ counts
    each = 2 * tilt + 1j * frequency
    terms = np.exp(logs + 1j * (angles - frequency * least)) * np.expm1(-each * (far + 1)) / np.expm1(-each)
    return float(terms[0].real + 2 * terms[1:].real.sum()) / width


def _peaks(size: Ints, spread: Floats, frequency: Floats) -> Truths:
    """At which frequencies (0 to pi) the transform may be above exp(-_LOG). spread: 4 p q of all tosses of a size.

    |transform|^2 is a product of 1 - 4 p q sin^2(frequency size / 2), at most exp(-B), B their sum. As a Euclidean norm
    the root of B differs between frequencies d apart by at most d times the standard deviation.
    """
    rounded_up = 1 << (int(size[-1]) - 1).bit_length()
    weights = np.zeros(rounded_up + 1)
    weights[size] = spread
    step = np.pi / (4 * rounded_up)
    deviation = sqrt(float(spread @ size.astype(np.float64) ** 2)) / 2
    # Half the sum of all weights less their cosine transform, at four frequencies to the finest wave.
    bound = (weights.sum() - np.fft.rfft(weights, 8 * rounded_up).real) / 2
    root = np.sqrt(np.maximum(bound, 0.0))
    unsafe = root - step / 2 * deviation < sqrt(2 * _LOG)
    return np.asarray(unsafe[np.rint(frequency / step).astype(np.intp)])


def paired_test(measure: str, agent_a: str, a: Values, agent_b: str, b: Values) -> PairedTest:
    """Student's paired t-test (two-sided) over the queries on which both have a value.

    `difference` is the mean of a - b with its t interval; its n_failed are the queries that one of them lacks.
    Undefined (t, p and the interval None) below two queries, and where every difference is the same.
    """
    owed = sorted(a.keys() | b.keys())
    gaps = [one - other for q in owed if (one := a.get(q)) is not None and (other := b.get(q)) is not None]
    n, failed = len(gaps), len(owed) - len(gaps)
    difference = Figure(value=round(fmean(gaps), DIGITS) if gaps else None, n=n, n_failed=failed)
    t, p = None, None
    if n >= 2 and max(gaps) - min(gaps) > 1e-12:
        from scipy.special import stdtr, stdtrit

        mean, error = fmean(gaps), float(np.std(gaps, ddof=1)) / sqrt(n)
        reach = float(stdtrit(n - 1, (1 + 0.95) / 2)) * error
        difference = rounded(mean, n, failed, mean - reach, mean + reach)
        t, p = round(mean / error, DIGITS), six_digits(2 * float(stdtr(n - 1, -abs(mean / error))))
    return PairedTest(
        measure=measure, agent_a=agent_a, agent_b=agent_b, difference=difference, t=t, df=n - 1 if n else None, p=p
    )


def rag_tests(
    agents: Sequence[tuple[str, str, str]], measures: Mapping[str, Mapping[str, Values]]
) -> tuple[PairedTest, ...]:
    """RAG against RAG-Fusion for each retriever on each measure that both have.

    agents: (agent, retriever, kind). measures: to agent to values.
    """
    named = {(retriever, kind): agent for agent, retriever, kind in agents}
    return tuple(
        paired_test(name, rag, values[rag], fusion, values[fusion])
        for (retriever, kind), rag in named.items()
        if kind == "rag" and (fusion := named.get((retriever, "rag-fusion"))) is not None
        for name, values in measures.items()
        if rag in values and fusion in values
    )


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
            choices = np.arange(2 ** len(row))[:, None] >> np.arange(len(row)) & 1
            found[place] = six_digits(_as_far(row, choices).mean())
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
    return np.asarray(np.abs((1.0 - 2.0 * choices) @ sums.T) >= np.abs(sums.sum(axis=-1)) - 1e-9)


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
    from scipy.signal import fftconvolve

    parts = sorted(parts, key=len)
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [fftconvolve(one, other) for one, other in pairs] + parts[len(parts) // 2 * 2 :]
    return parts[0]
