"""What arrays of numbers are called, and one sum over them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
"""Indices and whole numbers."""
Truths = NDArray[np.bool_]
Singles = NDArray[np.float32]
"""Vectors of texts, in single precision."""


def sums_by_number(values: Floats, numbers: Ints, size: int, order: Ints | None = None) -> Floats:
    """(..., size): `values` (..., members) summed over the members of each number; `numbers` (members,) from 0.

    order: what sorts `numbers`, stably, where that is known.
    """
    sums = np.zeros((*values.shape[:-1], size))
    if len(numbers):
        order = np.argsort(numbers, kind="stable") if order is None else order
        ordered = numbers[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
        sums[..., ordered[starts]] = np.add.reduceat(values[..., order], starts, axis=-1)
    return sums
