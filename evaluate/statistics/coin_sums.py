"""How likely a sum of many weighted coin tosses is to reach its mean: from a few values of its Fourier transform.

The transform of a sum of hundreds of tosses is all but 0 except near frequency 0, and near a few more where most sizes
are multiples of one number, so that a handful of its values give each chance. Where it is all but 0 is worked out from
a bound on it; were it so nearly nowhere, nothing is returned.
"""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np

from ragassay.arrays import Floats, Ints, Truths

_LOG = 36.0
"""What is left out is below exp(-36), 2e-16, as a chance and as a value of the transform."""

_LARGEST, _MOST = 1024, 200_000
"""Sizes, and sizes times frequencies, beyond which a convolution is as fast."""


def tilted_tail(size: Ints, often: Ints, tilt: float, least: int) -> float | None:
    """The sum over j >= 0 of P(Y = least + j) exp(-2 tilt j); None where it would take too many frequencies.

    Y is the sum of independent tosses, `often` of each `size` (whole numbers, as many of each), that are `size` with
    probability 1 / (1 + exp(-2 tilt size)), else 0. least: the mean of Y, but for rounding.
    """
    if size[-1] > _LARGEST:
        return None
    ahead = 1 / (1 + np.exp(-2 * tilt * size))
    far = _reach(size, often, ahead)
    width = 2 * far + 1
    frequency = np.arange(far + 1, dtype=np.float64) * (2 * np.pi / width)
    frequency = frequency[_peaks(size, 4 * often * ahead * (1 - ahead), frequency)]
    if len(frequency) * len(size) > _MOST:
        return None
    logs, angles = _transform(size, often, ahead, frequency)
    each = 2 * tilt + 1j * frequency
    terms = np.exp(logs + 1j * (angles - frequency * least)) * np.expm1(-each * (far + 1)) / np.expm1(-each)
    return float(terms[0].real + 2 * terms[1:].real.sum()) / width


def _reach(size: Ints, often: Ints, ahead: Floats) -> int:
    """How far from its mean Y has less than 2 exp(-_LOG), by Hoeffding's or by Bernstein's inequality.

    A transform twice as wide does not fold the tails back to where they would be seen.
    """
    squares = often * size.astype(np.float64) ** 2
    third = float(size[-1]) * _LOG / 3
    bernstein = third + sqrt(third**2 + 2 * _LOG * float(squares @ (ahead * (1 - ahead))))
    return ceil(min(sqrt(float(squares.sum()) * _LOG / 2), bernstein))


def _transform(size: Ints, often: Ints, ahead: Floats, frequency: Floats) -> tuple[Floats, Floats]:
    """The logarithm of its absolute value and its angle, (frequencies,): products of 1 - p + p exp(i w size)."""
    half, counts = frequency[:, None] * (size / 2), often.astype(np.float64)
    sine, cosine = np.sin(half), np.cos(half)
    logs = np.log1p(-4 * ahead * (1 - ahead) * sine**2) @ counts / 2
    angles = np.arctan2(2 * ahead * sine * cosine, 1 - 2 * ahead * sine**2) @ counts
    return logs, angles


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
