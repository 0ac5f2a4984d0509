"""The heat map of agents by questions: the mean of [judge]'s labels of each answer, in five shades, as one small SVG.

Cells of a shade are one path, so that 200 queries of 6 agents take some 15 kB. Questions stand from hardest to easiest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from ragassay.perturbed import originals
from ragassay.text import one_line

from ..inputs.labels import HIGHEST
from .queries.evidence import Evidence

SHADES = 5
_ROOM = 0.08
"""Left white below each row, of a cell's height."""


@dataclass(frozen=True)
class HeatMap:
    """agents, best first. svg: a row an agent, a column a question. hardest, easiest: (id, mean of 1) at the ends."""

    agents: tuple[str, ...]
    svg: Markup
    n_queries: int
    n_failed: int
    hardest: tuple[str, str]
    easiest: tuple[str, str]


def heat_map(evidence: Evidence, agents: Sequence[str]) -> HeatMap | None:
    """Of the questions as first asked; None where fewer than two have a label."""
    queries = originals(evidence.queries)
    cells = {(q.id, agent): _goodness(evidence, q.id, agent) for q in queries for agent in agents}
    means: dict[str, float] = {}
    for query in queries:
        known = [value for agent in agents if (value := cells[query.id, agent]) is not None]
        if known:
            means[query.id] = sum(known) / len(known)
    if len(means) < 2:
        return None
    order = sorted(means, key=lambda query: means[query])
    return HeatMap(
        agents=tuple(agents),
        svg=_svg([[cells[query, agent] for query in order] for agent in agents], agents),
        n_queries=len(order),
        n_failed=sum(cells[query, agent] is None for query in order for agent in agents),
        hardest=(one_line(order[0]), f"{means[order[0]]:.2f}"),
        easiest=(one_line(order[-1]), f"{means[order[-1]]:.2f}"),
    )


def _goodness(evidence: Evidence, query: str, agent: str) -> float | None:
    """0 to 1; None where no label of the answer is there. Refusals are no grade."""
    rows = [row for row in evidence.pointwise.get((query, agent), []) if row.criterion != "refusal"]
    labels = [row.label for row in rows if row.label is not None]
    return sum(labels) / len(labels) / HIGHEST if labels else None


def _svg(rows: Sequence[Sequence[float | None]], agents: Sequence[str]) -> Markup:
    paths: dict[str, list[str]] = {}
    for down, row in enumerate(rows):
        for right, value in enumerate(row):
            shade = "hf" if value is None else f"h{min(int(value * SHADES), SHADES - 1)}"
            paths.setdefault(shade, []).append(f"M{right} {down}h1v{1 - _ROOM:g}h-1z")
    drawn = "".join(f'<path class="{shade}" d="{"".join(paths[shade])}"/>' for shade in sorted(paths))
    words = f"agents by questions: {', '.join(one_line(agent) for agent in agents)}"
    box = f"0 0 {len(rows[0]) if rows else 0} {len(rows)}"
    return Markup(  # noqa: S704
        f'<svg class="heat" role="img" aria-label="{escape(words)}" viewBox="{box}" preserveAspectRatio="none">'
        f"{drawn}</svg>"
    )
