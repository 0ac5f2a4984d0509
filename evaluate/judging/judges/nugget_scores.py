"""Nugget scores of one answer (Pradeep et al. 2024, arXiv:2411.09607; 2025, arXiv:2504.15068).

With s = 1 for a nugget that the answer supports, 0.5 for partial support and 0 for none:

- all: the mean of s over all nuggets; vital: over the vital ones;
- weighted: (sum of vital s + 0.5 sum of okay s) / (n_vital + 0.5 n_okay);
- strict_all, strict_vital, strict_weighted: the same with s = 1 for full support alone.

A mean over nothing is None, where castorini/nuggetizer and Open RAG Eval write 0; nor do we count one okay nugget where
there is none, as Open RAG Eval's weighted score does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

Importance = Literal["vital", "okay"]
Assignment = Literal["support", "partial_support", "not_support"]

SUPPORT: Mapping[str, float] = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
SCORES = ("all", "vital", "weighted", "strict_all", "strict_vital", "strict_weighted")


class Assigned(NamedTuple):
    """A nugget's importance, None where it has none (it counts in "all" alone), and what the answer has of it."""

    importance: Importance | None
    assignment: Assignment


def nugget_scores(nuggets: Sequence[Assigned]) -> dict[str, float | None]:
    """The SCORES, each from 0 to 1, or None where there is no nugget to score it by."""
    return _means(nuggets, SUPPORT) | {
        f"strict_{name}": value for name, value in _means(nuggets, {**SUPPORT, "partial_support": 0.0}).items()
    }


def _means(nuggets: Sequence[Assigned], support: Mapping[str, float]) -> dict[str, float | None]:
    every = [support[nugget.assignment] for nugget in nuggets]
    vital = [support[nugget.assignment] for nugget in nuggets if nugget.importance == "vital"]
    okay = [support[nugget.assignment] for nugget in nuggets if nugget.importance == "okay"]
    return {
        "all": _share(sum(every), len(every)),
        "vital": _share(sum(vital), len(vital)),
        "weighted": _share(sum(vital) + 0.5 * sum(okay), len(vital) + 0.5 * len(okay)),
    }


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
