"""The front as a picture: quality against tokens handed over, and against latency, a mark a variant.

Inline SVG in percent of its width and pixels of its height, so that words stay as large as they are on a phone. Texts
are escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, cos, floor, log10, pi, sin

from markupsafe import Markup, escape

from ragassay.records import Figure
from ragassay.text import one_line

from ...screening.records import ScreenResults, VariantFigures
from ..plots import Scale, scale
from ..wording import number
from .wording import duration, measure_words

HEIGHT = 330
TOP, BOTTOM = 26, 292
"""Where the highest and the lowest tick of quality stand, in pixels."""
_WIDTH = 440
"""In pixels: what badges are kept apart at. On a wider picture they have more room."""
_MARGIN = 5.0
_BADGE = 9
_MANY_TICKS = 7
_SPAN_OF_LOG = 5.0


@dataclass(frozen=True)
class Panel:
    """One plot. title: what stands against what; missing: how many variants are not in it."""

    title: str
    plot: Markup
    missing: int


@dataclass(frozen=True)
class _Axis:
    """A cost, by its logarithm where it spans much."""

    scale: Scale
    log: bool

    def percent(self, value: float) -> float:
        return _MARGIN + (100 - 2 * _MARGIN) * self.scale.percent(log10(value) if self.log else value) / 100

    @property
    def ticks(self) -> list[float]:
        return [10**tick if self.log else tick for tick in self.scale.ticks]


@dataclass(frozen=True)
class _Point:
    variant: VariantFigures
    quality: Figure
    cost: float
    badge: str


def badges(results: ScreenResults) -> dict[str, str]:
    """Of each finalist, what it is marked with: B the baseline, the others 1, 2, … in their order."""
    baseline = results.chosen.baseline if results.chosen else None
    others = [name for name in results.finalists if name != baseline]
    marks = {name: str(place) for place, name in enumerate(others, 1)}
    return {name: marks.get(name, "B") for name in results.finalists}


def panels(results: ScreenResults) -> list[Panel]:
    """Quality against tokens, and against latency where any is known; none without a figure of quality."""
    made = [_panel(results, each) for each in (_TOKENS, _LATENCY)]
    return [panel for panel in made if panel]


@dataclass(frozen=True)
class _Cost:
    """What quality is drawn against. words: of a value; tick: of a round one."""

    title: str
    of: Callable[[VariantFigures], float | None]
    words: Callable[[float], str]
    tick: Callable[[float], str]


def _tokens_words(tokens: float) -> str:
    return f"{number(tokens, 'number')} tokens"


def _tick_of_time(seconds: float) -> str:
    return f"{round(seconds, 9):g} s" if seconds >= 0.9995 else f"{round(1000 * seconds, 6):g} ms"


_TOKENS = _Cost("tokens handed over", lambda one: one.tokens.value, _tokens_words, lambda tokens: f"{tokens:,.0f}")
_LATENCY = _Cost("latency of a search (median)", lambda one: one.latency_p50_s, duration, _tick_of_time)


def _panel(results: ScreenResults, against: _Cost) -> Panel | None:
    quality_words = measure_words(results.quality, results)
    title = f"{quality_words[:1].upper()}{quality_words[1:]} by {against.title}"
    marks, points = badges(results), list[_Point]()
    for variant in results.variants:
        quality, cost = getattr(variant, results.quality, None), against.of(variant)
        if quality is not None and quality.value is not None and cost is not None:
            points.append(_Point(variant, quality, cost, marks.get(variant.name, "")))
    if not points:
        return None
    finalists = [point for point in points if point.badge]
    heights = scale([Figure(value=one.quality.value, n=1) for one in points] + [one.quality for one in finalists])
    axis = _axis([point.cost for point in points])
    inside = [*_grid(heights, axis, against.tick), *_marks(points, heights, axis, against.words)]
    told = escape(_told(title, points, against.words))
    plot = f'<svg class="scatter" role="img" aria-label="{told}">{"".join(inside)}</svg>'
    return Panel(title, Markup(plot), len(results.variants) - len(points))  # noqa: S704


def _told(title: str, points: Sequence[_Point], words: Callable[[float], str]) -> str:
    """The picture in words."""
    finalists = [
        f"{one_line(one.variant.name)} ({one.badge}): {_value(one)} at {words(one.cost)}" for one in points if one.badge
    ]
    return f"{title}, {len(points)} variants. Finalists: {'; '.join(finalists) or 'none'}."


def _axis(costs: Sequence[float]) -> _Axis:
    low, high = min(costs), max(costs)
    if low <= 0 or high / low < _SPAN_OF_LOG:
        return _Axis(scale([Figure(value=cost, n=1) for cost in (low, high)], 4), log=False)
    steps = (1.0, 2.0, 5.0)
    ticks = [step * 10.0**power for power in range(floor(log10(low)), ceil(log10(high)) + 1) for step in steps]
    first = max((at for at, tick in enumerate(ticks) if tick <= low), default=0)
    last = next((at for at, tick in enumerate(ticks) if tick >= high), len(ticks) - 1)
    kept = ticks[first : last + 1]
    shown = kept if len(kept) <= _MANY_TICKS else [tick for tick in kept if f"{tick:e}".startswith("1.0")]
    marks = tuple(log10(tick) for tick in shown)
    return _Axis(Scale(log10(kept[0]), log10(kept[-1]), marks), log=True)


def _grid(heights: Scale, axis: _Axis, words: Callable[[float], str]) -> list[str]:
    parts = []
    for tick in heights.ticks:
        y = _y(tick, heights)
        parts.append(f'<line class="grid" x1="0" x2="100%" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class="tick" x="0" y="{_px(y - 4)}">{escape(number(tick, "measure")[:-1])}</text>')
    for tick in axis.ticks:
        x = _pc(axis.percent(tick))
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{BOTTOM + 8}" y2="{BOTTOM + 14}"/>')
        label = escape(words(tick))
        parts.append(f'<text class="tick" x="{x}" y="{BOTTOM + 28}" text-anchor="middle">{label}</text>')
    return parts


def _marks(points: Sequence[_Point], heights: Scale, axis: _Axis, words: Callable[[float], str]) -> list[str]:
    """The rest first, then the front, then the finalists with their intervals and badges."""

    def mark(point: _Point) -> str:
        x, y = _pc(axis.percent(point.cost)), _y(point.quality.value or 0.0, heights)
        title = escape(f"{one_line(point.variant.name)}: {_value(point)}, {words(point.cost)}")
        return f'<circle cx="{x}" cy="{y}" r="4"><title>{title}</title></circle>'

    finalists = [point for point in points if point.badge]
    others = [point for point in points if not point.badge]
    parts = [_interval(point, heights, axis) for point in finalists]
    for css, group in (
        ("off", [point for point in others if not point.variant.on_front]),
        ("on", [point for point in others if point.variant.on_front]),
        ("fin", finalists),
    ):
        parts.append(f'<g class="{css}">{"".join(map(mark, group))}</g>')
    return parts + _badges(finalists, heights, axis)


def _interval(point: _Point, heights: Scale, axis: _Axis) -> str:
    if point.quality.ci_low is None or point.quality.ci_high is None:
        return ""
    x, y1, y2 = _pc(axis.percent(point.cost)), _y(point.quality.ci_low, heights), _y(point.quality.ci_high, heights)
    return f'<line class="ci" x1="{x}" x2="{x}" y1="{y1}" y2="{y2}"/>'


def _badges(finalists: Sequence[_Point], heights: Scale, axis: _Axis) -> list[str]:
    """Beside their marks, each where it covers no other badge and no finalist's mark."""
    at = [(axis.percent(one.cost) * _WIDTH / 100, _y(one.quality.value or 0.0, heights)) for one in finalists]
    taken, parts = list(at), []
    for point, (x, y) in zip(finalists, at, strict=True):
        dx, dy = next((each for each in _OFFSETS if _free(x + each[0], y + each[1], taken)), _OFFSETS[0])
        taken.append((x + dx, y + dy))
        css = "badge base" if point.badge == "B" else "badge"
        parts.append(
            f'<svg class="{css}" x="{_pc(axis.percent(point.cost))}" y="{y}">'
            f'<line x1="0" y1="0" x2="{dx}" y2="{dy}"/><circle cx="{dx}" cy="{dy}" r="{_BADGE}"/>'
            f'<text x="{dx}" y="{_px(dy + 4)}" text-anchor="middle">{escape(point.badge)}</text></svg>'
        )
    return parts


_OFFSETS = [
    (round(radius * cos(pi * turn / 6), 1), round(-radius * sin(pi * turn / 6), 1))
    for radius in (20, 34, 48, 64, 82)
    for turn in (1, 3, 5, 2, 4, 0, 6, 11, 7, 10, 8, 9)
]


def _free(x: float, y: float, taken: Sequence[tuple[float, float]]) -> bool:
    inside = _BADGE <= x <= _WIDTH - _BADGE and _BADGE <= y <= BOTTOM
    return inside and all((x - a) ** 2 + (y - b) ** 2 >= (2 * _BADGE - 1) ** 2 for a, b in taken)


def _value(point: _Point) -> str:
    return number(point.quality.value or 0.0, "measure")


def _y(value: float, heights: Scale) -> float:
    return _px(BOTTOM - (BOTTOM - TOP) * heights.percent(value) / 100)


def _px(value: float) -> float:
    return round(value, 1)


def _pc(value: float) -> str:
    return f"{value:.1f}%"
