"""The report's tables on thresholds and tags: what passes and fails of what, and what evaluators are evidence for."""

from __future__ import annotations

from dataclasses import dataclass

from ragassay.text import one_line

from ..results import Results
from .wording import Shown, shown


@dataclass(frozen=True)
class ShareRow:
    """One agent by one criterion. figures: passed, failed, the three parts of the failed, replies not read."""

    agent: str
    criterion: str
    figures: list[Shown]


def share_rows(results: Results) -> list[ShareRow]:
    """A row for each criterion and agent, by criterion."""
    names = dict.fromkeys(name for named in results.threshold_shares.values() for name in named)
    return [
        ShareRow(agent, f"{one_line(name).replace('_', ' ')} ({_side(results, name)})", _figures(results, agent, name))
        for name in names
        for agent in results.agents
        if name in results.threshold_shares.get(agent, {})
    ]


def _side(results: Results, name: str) -> str:
    sign = "≤" if name in results.lower_is_better else "≥"
    return f"{sign} {results.thresholds[name]:g}" if name in results.thresholds else "no threshold"


def _figures(results: Results, agent: str, name: str) -> list[Shown]:
    one = results.threshold_shares[agent][name]
    parts = (one.retrieval_failures, one.generation_failures, one.unexplained_failures)
    return [shown(figure, "share", "does not apply") for figure in (one.passed, one.failed, *parts, one.parse_failures)]


def tag_rows(results: Results) -> list[tuple[str, str]]:
    """Each tag with its evaluators in words."""
    return [(tag, ", ".join(map(one_line, names))) for tag, names in results.evaluator_tags.items()]
