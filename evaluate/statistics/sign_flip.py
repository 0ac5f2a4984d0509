"""The sign-flip permutation test of sums around 0, a cluster's sum each (Fisher, The Design of Experiments, 1935).

Under the hypothesis that each cluster's sum is as likely to be d as -d, all 2^clusters choices of signs are equally
likely. Of whole numbers their total's distribution is the convolution of the clusters' two-point ones, so nothing need
be drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DRAWS = 9_999
_ENUMERATED = 14
_WHOLE = (1, 2, 60)
"""Reciprocal ranks down to the sixth are multiples of 1 / 60, labels and their halves of 1 / 2."""


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


def _enumerated(sums: Floats) -> float:
    choices = np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums)) & 1
    return float(f"{_as_far(sums, 1.0 - 2.0 * choices).mean():.6g}")


def _drawn(sums: Floats, seed: int) -> float:
    heads = np.random.default_rng(seed).integers(0, 2, size=(DRAWS, len(sums)))
    return float(f"{(1 + _as_far(np.asarray(np.sort(sums)), 1.0 - 2.0 * heads).sum()) / (DRAWS + 1):.6g}")


def _as_far(sums: Floats, signs: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Which choices of signs lead at least as far from 0; sums that differ in the last digit are the same."""
    far: NDArray[np.bool_] = np.abs(signs @ sums) >= abs(sums.sum()) - 1e-9
    return far


def sign_flip_p(sums: Sequence[int]) -> float | None:
    """Two-sided p of the sum over clusters (at most 1); None where every cluster's sum is 0."""
    sizes = [abs(value) for value in sums if value]
    if not sizes:
        return None
    chances = np.ones(1)
    for size in sizes:
        wider = np.zeros(len(chances) + 2 * size)
        wider[: len(chances)] += chances / 2
        wider[2 * size :] += chances / 2
        chances = wider
    totals = np.arange(len(chances)) - sum(sizes)
    return float(f"{min(1.0, chances[np.abs(totals) >= abs(sum(sums))].sum()):.6g}")
