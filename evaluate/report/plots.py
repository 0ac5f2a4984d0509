"""The report's plots: inline SVG a table row high, in percent of the row's width, so that text beside it stays text.

Every function gives safe markup: numbers are formatted here, texts are escaped. Colours are CSS classes (`c0`, `l2`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from markupsafe import Markup, escape

from ragassay.records import Figure

from .wording import Kind, number

COLOURS = 12


@dataclass(frozen=True)
class Scale:
    """A straight axis from `low` to `high` (low < high) with its ticks, in the figure's units."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def percent(self, value: float) -> float:
        """Where `value` stands, 0 to 100; what lies outside stands at the edge."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0) * 100


def scale(figures: Sequence[Figure], ticks: int = 5) -> Scale:
    """An axis with about `ticks` round ticks that holds every value and interval; 0 to 1 where there is none."""
    ends = [v for f in figures if f.value is not None for v in (f.value, f.ci_low, f.ci_high) if v is not None]
    if not ends:
        return Scale(0.0, 1.0, (0.0, 0.5, 1.0))
    low, high = min(ends), max(ends)
    step = _round_step((high - low or abs(high) or 1.0) / ticks)
    first, last = floor(low / step), ceil(high / step)
    last = max(last, first + 1)
    marks = tuple(round(step * i, 10) for i in range(first, last + 1))
    return Scale(marks[0], marks[-1], marks)


def _round_step(step: float) -> float:
    power: float = 10.0 ** floor(log10(step))
    return next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= step * 0.999)


def whisker(
    figure: Figure | None, axis: Scale, colour: int, label: str, kind: Kind, css: str = "", band: float = 0.0
) -> Markup:
    """A dot at the value on a line over the interval; only the grid where there is no value.

    css: a class in place of the colour's. band: how far to either side of 0 the ground is shaded.
    """
    ends = axis.percent(-band), axis.percent(band)
    shaded = f'<rect class="band" x="{_pc(ends[0])}" y="0" width="{_pc(ends[1] - ends[0])}" height="100%"/>'
    parts = [*([shaded] if band else []), _grid(axis)]
    words = f"{label}: no value"
    if figure is not None and figure.value is not None:
        words = f"{label}: {number(figure.value, kind)}"
        if figure.ci_low is not None and figure.ci_high is not None:
            low, high = axis.percent(figure.ci_low), axis.percent(figure.ci_high)
            words += f", interval {number(figure.ci_low, kind)} to {number(figure.ci_high, kind)}"
            parts.append(_line("wh", low, high, 50, 50))
            parts += [_line("wh", end, end, 32, 68) for end in (low, high)]
        parts.append(f'<circle class="dot" cx="{_pc(axis.percent(figure.value))}" cy="50%" r="5.5"/>')
    return _svg(f"plot {css or f'c{colour % COLOURS}'}", words, parts)


def axis_labels(axis: Scale, kind: Kind) -> Markup:
    """The ticks' numbers, to stand under rows drawn on the same scale; those in the middle (`mid`) may give way."""
    anchors = ["start", *["middle"] * (len(axis.ticks) - 2), "end"]
    classes = ["end", *["mid"] * (len(axis.ticks) - 2), "end"]
    texts = [
        f'<text class="{css}" x="{_pc(axis.percent(tick))}" y="12" text-anchor="{anchor}">'
        f"{escape(number(tick, kind))}</text>"
        for tick, anchor, css in zip(axis.ticks, anchors, classes, strict=True)
    ]
    return _svg("ticks", "axis", texts)


def bar(share: float, colour: int, label: str) -> Markup:
    """A bar as long as `share` (0 to 1) of the row."""
    width = min(max(share, 0.0), 1.0) * 100
    words = f"{label}: {number(share, 'share')}"
    whole = '<rect class="bed" x="0" y="25%" width="100%" height="50%" rx="3"/>'
    part = f'<rect class="bar" x="0" y="25%" width="{_pc(width)}" height="50%" rx="3"/>'
    return _svg(f"plot c{colour % COLOURS}", words, [whole, part])


def stacked(counts: Sequence[tuple[str, str, int]], label: str) -> Markup:
    """Counts side by side in one bar that is their sum long: (name, CSS class, count) for each part."""
    total = sum(count for _, _, count in counts)
    parts, at = [], 0.0
    for name, css, count in counts:
        width = 100 * count / total if total else 0.0
        if count:
            title = f"<title>{escape(f'{name}: {count:,} of {total:,}')}</title>"
            parts.append(f'<rect class="{css}" x="{_pc(at)}" y="15%" width="{_pc(width)}" height="70%">{title}</rect>')
        at += width
    words = f"{label}: " + ", ".join(f"{name} {count:,}" for name, _, count in counts)
    return _svg("plot stack", words, parts)


def _grid(axis: Scale) -> str:
    return "".join(_line("zero" if tick == 0 else "grid", x := axis.percent(tick), x, 0, 100) for tick in axis.ticks)


def _line(css: str, x1: float, x2: float, y1: float, y2: float) -> str:
    return f'<line class="{css}" x1="{_pc(x1)}" x2="{_pc(x2)}" y1="{_pc(y1)}" y2="{_pc(y2)}"/>'


def _svg(css: str, label: str, parts: Sequence[str]) -> Markup:
    inside = "".join(parts)
    return Markup(f'<svg class="{css}" role="img" aria-label="{escape(label)}">{inside}</svg>')  # noqa: S704


def _pc(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") + "%"
