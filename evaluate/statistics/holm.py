"""Holm's correction for testing many hypotheses."""

from __future__ import annotations

from collections.abc import Sequence

from .resamples import six_digits


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p-values (Scandinavian Journal of Statistics 6, 1979), in the order given.

    An undefined p is None and stays so; it counts in the family as one that is never small.
    """
    order = sorted((index for index, value in enumerate(p) if value is not None), key=lambda i: (p[i], i))
    adjusted: list[float | None] = [None] * len(p)
    least = 0.0
    for rank, index in enumerate(order):
        least = max(least, min(1.0, (len(p) - rank) * (p[index] or 0.0)))
        adjusted[index] = six_digits(least)
    return adjusted
