"""The front of quality against cost, and against latency, as pictures: a mark an agent, with both intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup, escape

from ragassay.evaluate.report.plots import COLOURS, Scale, scale
from ragassay.evaluate.report.wording import Kind, number
from ragassay.evaluate.results import Results
from ragassay.records import Figure
from ragassay.text import one_line

TOP, BOTTOM, HEIGHT = 16, 250, 286
LEFT, RIGHT = 8.0, 88.0
"""Percent; to the right of it is room for names."""

_COSTS: tuple[tuple[str, str, Kind], ...] = (
    ("cost_usd", "cost of an answer", "usd"),
    ("latency_s", "latency", "seconds"),
)


def front_pictures(
    results: Results, ratings: Mapping[str, Figure], on_front: Sequence[str], colour: Mapping[str, int]
) -> list[tuple[str, Markup]]:
    """(title, picture) for cost and for latency, each where every rated agent has it. ratings: the quality."""
    rated = [agent for agent in results.agents if (f := ratings.get(agent)) is not None and f.value is not None]
    made = []
    for key, name, kind in _COSTS:
        costs = {agent: results.answers.get(agent, {}).get(key) for agent in rated}
        known = {agent: one for agent, one in costs.items() if one is not None and one.value is not None}
        if rated and len(known) == len(rated):
            points = {agent: (known[agent], ratings[agent]) for agent in rated}
            made.append((f"Points by {name}", _picture(f"Points by {name}", points, kind, on_front, colour)))
    return made


def _picture(
    title: str,
    points: Mapping[str, tuple[Figure, Figure]],
    kind: Kind,
    on_front: Sequence[str],
    colour: Mapping[str, int],
) -> Markup:
    across, up = scale([x for x, _ in points.values()], 4), scale([y for _, y in points.values()])
    parts = [*_grid(across, up, kind)]
    for agent, (x, y) in points.items():
        parts.append(_mark(agent, x, y, across, up, kind, agent in on_front, colour.get(agent, 11)))
    told = "; ".join(
        f"{one_line(agent)} {number(y.value or 0.0, 'points')} at {number(x.value or 0.0, kind)}"
        for agent, (x, y) in points.items()
    )
    label, inside = escape(f"{title}: {told}"), "".join(parts)
    return Markup(f'<svg class="frontplot" height="{HEIGHT}" role="img" aria-label="{label}">{inside}</svg>')  # noqa: S704


def _x(value: float, axis: Scale) -> str:
    return f"{LEFT + (RIGHT - LEFT) * axis.percent(value) / 100:.2f}%"


def _y(value: float, axis: Scale) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * axis.percent(value) / 100, 1)


def _grid(across: Scale, up: Scale, kind: Kind) -> list[str]:
    parts = []
    for tick in up.ticks:
        y = _y(tick, up)
        parts.append(f'<line class="grid" x1="0" x2="100%" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class="tick" x="0" y="{y - 4}">{escape(number(tick, "points"))}</text>')
    for place, tick in enumerate(across.ticks):
        css = "tick odd" if place % 2 else "tick"
        text = escape(number(tick, kind))
        parts.append(f'<text class="{css}" x="{_x(tick, across)}" y="{BOTTOM + 24}" text-anchor="middle">{text}</text>')
    return parts


def _mark(agent: str, x: Figure, y: Figure, across: Scale, up: Scale, kind: Kind, on_front: bool, colour: int) -> str:
    at, height = _x(x.value or 0.0, across), _y(y.value or 0.0, up)
    name = escape(one_line(agent)[:24])
    title = escape(f"{one_line(agent)}: {number(y.value or 0.0, 'points')}, {number(x.value or 0.0, kind)}")
    parts = [f'<g class="c{colour % COLOURS}{"" if on_front else " behind"}"><title>{title}</title>']
    if x.ci_low is not None and x.ci_high is not None:
        ends = f'x1="{_x(x.ci_low, across)}" x2="{_x(x.ci_high, across)}"'
        parts.append(f'<line class="wh" {ends} y1="{height}" y2="{height}"/>')
    if y.ci_low is not None and y.ci_high is not None:
        ends = f'y1="{_y(y.ci_low, up)}" y2="{_y(y.ci_high, up)}"'
        parts.append(f'<line class="wh" x1="{at}" x2="{at}" {ends}/>')
    parts.append(f'<circle class="dot" cx="{at}" cy="{height}" r="6"/>')
    parts.append(f'<svg class="name" x="{at}" y="{height}"><text x="9" y="-7">{name}</text></svg></g>')
    return "".join(parts)
