"""An exact test of whole-number sums around 0: sign-flip permutation (Fisher, The Design of Experiments, 1935).

Under the hypothesis that each cluster's sum is as likely to be d as -d, all 2^clusters choices of signs are equally
likely; their total's distribution is the convolution of the clusters' two-point ones, so nothing need be drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


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
