"""Box plots by hand: quartiles between order statistics (Hyndman and Fan 1996, type 7), Tukey's whiskers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor
from typing import Any

from support.recomputed.expected import Book, Path


def quantile(values: Sequence[float], share: float) -> float:
    place = share * (len(values) - 1)
    low = floor(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


def box(book: Book, path: Path, values: Mapping[str, float | None], limits: tuple[float, float]) -> None:
    """Every leaf of one box."""
    book.mean((*path, "mean"), values, limits)
    known = sorted(value for value in values.values() if value is not None)
    leaves: dict[str, Any] = dict.fromkeys(("minimum", "q1", "median", "q3", "maximum", "low_whisker", "high_whisker"))
    leaves |= {"n": len(known), "n_failed": len(values) - len(known), "lowest": limits[0], "highest": limits[1]}
    leaves["outliers"] = []
    if known:
        q1, q3 = quantile(known, 0.25), quantile(known, 0.75)
        inside = [value for value in known if q1 - 1.5 * (q3 - q1) <= value <= q3 + 1.5 * (q3 - q1)]
        leaves |= {"minimum": known[0], "q1": q1, "median": quantile(known, 0.5), "q3": q3, "maximum": known[-1]}
        leaves |= {"low_whisker": inside[0], "high_whisker": inside[-1]}
        leaves["outliers"] = [value for value in known if value < inside[0] or value > inside[-1]]
    for name, value in leaves.items():
        book.put((*path, name), value)
