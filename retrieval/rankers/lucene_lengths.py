"""The length of a passage as Lucene's index keeps it: one byte, exact up to 40 terms and rounded down beyond."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_KEPT_BITS = 4
_EXACT = 255 - 231
"""The byte holds 231 floats of four significant bits (those up to 2**31 - 1), and so 24 whole numbers before them."""


def rounded_lengths(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """SmallFloat.byte4ToInt(SmallFloat.intToByte4(length)) of Apache Lucene, for each of the lengths (passages,).

    From 24 on, what is above 24 keeps its four highest bits. The mean length that BM25 divides by stays exact.
    """
    beyond = np.maximum(lengths - _EXACT, 0)
    bits = np.zeros_like(beyond)
    bits[beyond > 0] = np.floor(np.log2(beyond[beyond > 0])).astype(np.int64) + 1
    shift = np.maximum(bits - _KEPT_BITS, 0)
    kept: npt.NDArray[np.int64] = np.where(lengths < _EXACT, lengths, _EXACT + ((beyond >> shift) << shift))
    return kept
