"""Which pointwise criterion stands for all of them where there is room for one: the one that tells the agents apart."""

from __future__ import annotations

from math import inf
from statistics import pstdev

from ..results import Results

CORRECTNESS = "answer_correctness"


def telling_criterion(results: Results) -> str | None:
    """`answer_correctness` where it was judged, else the criterion whose means differ most for the width of their
    intervals, of equals the first; None where nothing was judged."""
    named = dict.fromkeys(name for agent in results.agents for name in results.pointwise.get(agent, {}))
    judged = [name for name in named if any(value is not None for value, _ in _means(results, name))]
    if CORRECTNESS in judged:
        return CORRECTNESS
    return max(judged, key=lambda name: _spread(results, name), default=None)


def _spread(results: Results, name: str) -> float:
    """The standard deviation of the agents' means, over the mean width of their intervals."""
    known = [(value, width) for value, width in _means(results, name) if value is not None]
    spread, widths = pstdev(value for value, _ in known), [width for _, width in known if width is not None]
    if not spread or not widths:
        return 0.0
    width = sum(widths) / len(widths)
    return round(spread / width, 9) if width else inf


def _means(results: Results, name: str) -> list[tuple[float | None, float | None]]:
    """Of each agent, its mean and the width of the interval."""
    figures = [row[name] for agent in results.agents if name in (row := results.pointwise.get(agent, {}))]
    return [
        (one.value, None if one.ci_low is None or one.ci_high is None else one.ci_high - one.ci_low) for one in figures
    ]
