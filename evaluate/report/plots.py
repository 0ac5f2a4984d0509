"""What pages are drawn with: the templates' environment, and inline SVG; the page of box plots.

Plots are a table row high and in percent of the row's width, so that text beside them stays text. Every function gives
safe markup: numbers are formatted here, texts are escaped. Colours are CSS classes (`c0`, `l2`, `h8`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil, cos, floor, log10, pi, sin
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from ragassay.errors import InputError
from ragassay.records import Figure
from ragassay.table import NO_COLOUR, html_of, value_of
from ragassay.text import did_you_mean, one_line, plain, untrusted

from ..results import Box, Results
from . import TEMPLATES
from .wording import MISSING, Kind, interval, kind_of, measure_help, measure_name, number, p_words, shown

if TYPE_CHECKING:
    from jinja2 import Environment


def environment() -> Environment:
    """With what all pages word and draw figures by; every text that a template prints is untrusted: control and
    direction characters are made visible, and it is escaped unless it is markup already."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: value if isinstance(value, Markup) or not isinstance(value, str) else untrusted(value),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {one.__name__: one for one in (whisker, axis_labels, bar, stacked, scale, around_0, html_of, shown)}
    made.globals |= {one.__name__: one for one in (number, interval, one_line, measure_name, measure_help, p_words)}
    made.globals |= {"value": value_of, "no_colour": NO_COLOUR}
    return made


COLOURS = 12


def colours_of(agents: Iterable[str]) -> dict[str, int]:
    """Agent to the number of its colour, in the order of their names; after the last comes the first again."""
    return {name: place % COLOURS for place, name in enumerate(sorted(agents))}


@dataclass(frozen=True)
class Scale:
    """A straight axis from `low` to `high` (low < high) with its ticks, in the figure's units."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def percent(self, value: float) -> float:
        """Where `value` stands, 0 to 100; what lies outside stands at the edge."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0) * 100


def scale(figures: Iterable[Figure], ticks: int = 5) -> Scale:
    """An axis with about `ticks` round ticks that holds every value and interval; 0 to 1 where there is none."""
    ends = [v for f in figures if f.value is not None for v in (f.value, f.ci_low, f.ci_high) if v is not None]
    if not ends:
        return Scale(0.0, 1.0, (0.0, 0.5, 1.0))
    low, high = min(ends), max(ends)
    wanted = (high - low or abs(high) or 1.0) / ticks
    power: float = 10.0 ** floor(log10(wanted))
    step = next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= wanted * 0.999)
    first = floor(low / step)
    marks = tuple(round(step * i, 10) for i in range(first, max(ceil(high / step), first + 1) + 1))
    return Scale(marks[0], marks[-1], marks)


def around_0(differences: Iterable[Figure | None], ticks: int = 4) -> Scale:
    """An axis that holds 0 and the differences that there are."""
    return scale([Figure(value=0.0, n=0), *filter(None, differences)], ticks)


def whisker(
    figure: Figure | None, axis: Scale, colour: int, label: str, kind: Kind, css: str = "", band: float = 0.0
) -> Markup:
    """A dot at the value on a line over the interval; only the grid where there is no value.

    css: a class in place of the colour's. band: how far to either side of 0 the ground is shaded.
    """
    left, right = axis.percent(-band), axis.percent(band)
    shaded = f'<rect class="band" x="{percent(left)}" y="0" width="{percent(right - left)}" height="100%"/>'
    parts = [shaded, _grid(axis)] if band else [_grid(axis)]
    words = f"{label}: no value"
    if figure is not None and figure.value is not None:
        words = f"{label}: {number(figure.value, kind)}"
        if figure.ci_low is not None and figure.ci_high is not None:
            low, high = axis.percent(figure.ci_low), axis.percent(figure.ci_high)
            words += f", interval {number(figure.ci_low, kind)} to {number(figure.ci_high, kind)}"
            parts.append(line("wh", low, high, 50, 50))
            parts += [line("wh", end, end, 32, 68) for end in (low, high)]
        parts.append(f'<circle class="dot" cx="{percent(axis.percent(figure.value))}" cy="50%" r="5.5"/>')
    return svg(f"plot {css or f'c{colour % COLOURS}'}", words, parts)


def axis_labels(axis: Scale, kind: Kind) -> Markup:
    """The ticks' numbers, to stand under rows drawn on the same scale; those in the middle (`mid`) may give way."""
    anchors = ["start", *["middle"] * (len(axis.ticks) - 2), "end"]
    classes = ["end", *["mid"] * (len(axis.ticks) - 2), "end"]
    texts = [
        f'<text class="{css}" x="{percent(axis.percent(tick))}" y="12" text-anchor="{anchor}">'
        f"{escape(number(tick, kind))}</text>"
        for tick, anchor, css in zip(axis.ticks, anchors, classes, strict=True)
    ]
    return svg("ticks", "axis", texts)


def bar(share: float, colour: int, label: str) -> Markup:
    """A bar as long as `share` (0 to 1) of the row."""
    width = min(max(share, 0.0), 1.0) * 100
    words = f"{label}: {number(share, 'share')}"
    whole = '<rect class="bed" x="0" y="25%" width="100%" height="50%" rx="3"/>'
    part = f'<rect class="bar" x="0" y="25%" width="{percent(width)}" height="50%" rx="3"/>'
    return svg(f"plot c{colour % COLOURS}", words, [whole, part])


def stacked(counts: Sequence[tuple[str, str, int]], label: str) -> Markup:
    """Counts side by side in one bar that is their sum long: (name, CSS class, count) for each part."""
    total = sum(count for _, _, count in counts)
    parts, at = [], 0.0
    for name, css, count in counts:
        width = 100 * count / total if total else 0.0
        if count:
            title = f"<title>{escape(f'{name}: {count:,} of {total:,}')}</title>"
            parts.append(
                f'<rect class="{css}" x="{percent(at)}" y="15%" width="{percent(width)}" height="70%">{title}</rect>'
            )
        at += width
    words = f"{label}: " + ", ".join(f"{name} {count:,}" for name, _, count in counts)
    return svg("plot stack", words, parts)


HEAT_ROW = 26
"""Pixels of a row of a heat map."""
SHADES = 9
"""Of a heat map, the last of the best cells."""
_LEFT_WHITE = 0.08
"""Below each row of a heat map, of a cell's height."""


@dataclass(frozen=True)
class HeatColumn:
    """shares: for each row from 0, the worst, to 1, the best; None where there is no value. href and title: where the
    column leads, and what it says of itself."""

    shares: tuple[float | None, ...]
    href: str = ""
    title: str = ""


def heat_map(columns: Sequence[HeatColumn], label: str) -> Markup:
    """Cells from worst to best in `SHADES` shades. Those of a shade are one path, in a column that leads somewhere or
    in all others together, so that 200 queries of 6 agents take some 15 kB."""
    linked = [
        f'<a href="{escape(one.href)}" tabindex="-1"><title>{escape(one.title)}</title>{_heat_cells([(at, one)])}</a>'
        for at, one in enumerate(columns)
        if one.href
    ]
    cells = _heat_cells((at, one) for at, one in enumerate(columns) if not one.href)
    rows = len(columns[0].shares) if columns else 0
    given = f'height="{HEAT_ROW * rows}" viewBox="0 0 {len(columns)} {rows}" preserveAspectRatio="none"'
    return svg("heatmap", label, [cells, *linked], f'role="{"group" if linked else "img"}" {given}')


def _heat_cells(columns: Iterable[tuple[int, HeatColumn]]) -> str:
    paths: dict[str, list[str]] = {}
    for right, column in columns:
        for down, share in enumerate(column.shares):
            shade = "hx" if share is None else f"h{round(min(max(share, 0.0), 1.0) * (SHADES - 1))}"
            paths.setdefault(shade, []).append(f"M{right} {down}h1v{1 - _LEFT_WHITE:g}h-1z")
    return "".join(f'<path class="{shade}" d="{"".join(paths[shade])}"/>' for shade in sorted(paths))


HEIGHT, TOP, BOTTOM = 330, 26, 292
"""Of a front, in pixels, and where the highest and the lowest tick of quality stand."""
_LEFT, _RIGHT, _ROOM_FOR_NAMES = 5.0, 95.0, 7.0
"""Percent of the width."""
_WIDTH = 440
"""In pixels: what badges are kept apart at. On a wider picture they have more room."""
_BADGE = 9
_MANY_TICKS = 7
_SPAN_OF_LOG = 5.0


@dataclass(frozen=True)
class Dot:
    """What stands on a front: a cost and a quality, each with its interval where that is drawn.

    css: classes of the mark; badge: in a circle beside it; name: written beside it.
    """

    cost: Figure
    quality: Figure
    title: str
    css: str
    badge: str = ""
    name: str = ""


@dataclass(frozen=True)
class _Axis:
    """A cost, by its logarithm where it spans much, up to `right` percent of the width."""

    scale: Scale
    log: bool
    right: float

    def at(self, value: float) -> str:
        """In percent of the width."""
        share = self.scale.percent(log10(value) if self.log else value) / 100
        return percent(_LEFT + (self.right - _LEFT) * share)


def scatter(dots: Sequence[Dot], label: str, words: Callable[[float], str], quality: Kind) -> Markup:
    """Quality upwards against a cost to the right; every dot has a value of both. words: of a round cost."""
    up = scale([one.quality for one in dots])
    axis, ticks = _axis_of([one.cost for one in dots], _RIGHT - _ROOM_FOR_NAMES * any(one.name for one in dots))
    places = [(axis.at(one.cost.value or 0.0), _y(one.quality.value or 0.0, up)) for one in dots]
    parts = []
    for tick in up.ticks:
        parts.append(f'<line class="grid" x1="0" x2="100%" y1="{_y(tick, up)}" y2="{_y(tick, up)}"/>')
        parts.append(
            f'<text class="tick" x="0" y="{round(_y(tick, up) - 4, 1)}">{escape(number(tick, quality))}</text>'
        )
    for place, tick in enumerate(ticks):
        x, odd = axis.at(tick), " odd" if place % 2 else ""
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{BOTTOM + 8}" y2="{BOTTOM + 14}"/>')
        text = escape(words(tick))
        parts.append(f'<text class="tick{odd}" x="{x}" y="{BOTTOM + 28}" text-anchor="middle">{text}</text>')
    parts += [_mark(one, *at, axis, up) for one, at in zip(dots, places, strict=True)]
    return svg("scatter", label, [*parts, *_badges(dots, places)])


def _axis_of(costs: Sequence[Figure], right: float) -> tuple[_Axis, Sequence[float]]:
    """The axis and its round ticks."""
    ends = [end for one in costs for end in (one.value, one.ci_low, one.ci_high) if end is not None]
    low, high = min(ends), max(ends)
    if low <= 0 or high / low < _SPAN_OF_LOG:
        straight = scale(costs, 4)
        return _Axis(straight, log=False, right=right), straight.ticks
    steps = (1.0, 2.0, 5.0)
    ticks = [step * 10.0**power for power in range(floor(log10(low)), ceil(log10(high)) + 1) for step in steps]
    first = max((at for at, tick in enumerate(ticks) if tick <= low), default=0)
    last = next((at for at, tick in enumerate(ticks) if tick >= high), len(ticks) - 1)
    kept = ticks[first : last + 1]
    shown = kept if len(kept) <= _MANY_TICKS else [tick for tick in kept if f"{tick:e}".startswith("1.0")]
    return _Axis(Scale(log10(kept[0]), log10(kept[-1]), ()), log=True, right=right), shown


def _mark(one: Dot, x: str, y: float, axis: _Axis, up: Scale) -> str:
    """The interval below the mark, and its name."""
    parts = [f'<g class="{one.css}"><title>{escape(one.title)}</title>']
    cost, quality = one.cost, one.quality
    if cost.ci_low is not None and cost.ci_high is not None:
        parts.append(f'<line class="ci" x1="{axis.at(cost.ci_low)}" x2="{axis.at(cost.ci_high)}" y1="{y}" y2="{y}"/>')
    if quality.ci_low is not None and quality.ci_high is not None:
        ends = f'y1="{_y(quality.ci_low, up)}" y2="{_y(quality.ci_high, up)}"'
        parts.append(f'<line class="ci" x1="{x}" x2="{x}" {ends}/>')
    parts.append(f'<circle class="dot" cx="{x}" cy="{y}" r="{6 if one.name else 4}"/>')
    if one.name:
        parts.append(f'<svg class="name" x="{x}" y="{y}"><text x="9" y="-7">{escape(one.name)}</text></svg>')
    return "".join([*parts, "</g>"])


def _badges(dots: Sequence[Dot], places: Sequence[tuple[str, float]]) -> list[str]:
    """Beside their marks, each where it covers no other badge and no mark that has one."""
    badged = [(one, x, y) for one, (x, y) in zip(dots, places, strict=True) if one.badge]
    taken, parts = [(float(x[:-1]) * _WIDTH / 100, y) for _, x, y in badged], []
    for (one, x, y), (left, _) in zip(badged, list(taken), strict=True):
        dx, dy = next((each for each in _OFFSETS if _free(left + each[0], y + each[1], taken)), _OFFSETS[0])
        taken.append((left + dx, y + dy))
        parts.append(
            f'<svg class="badge{" base" if one.badge == "B" else ""}" x="{x}" y="{y}">'
            f'<line x1="0" y1="0" x2="{dx}" y2="{dy}"/><circle cx="{dx}" cy="{dy}" r="{_BADGE}"/>'
            f'<text x="{dx}" y="{round(dy + 4, 1)}" text-anchor="middle">{escape(one.badge)}</text></svg>'
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


def _y(value: float, up: Scale) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * up.percent(value) / 100, 1)


def _grid(axis: Scale) -> str:
    return "".join(line("zero" if tick == 0 else "grid", x := axis.percent(tick), x, 0, 100) for tick in axis.ticks)


def line(css: str, x1: float, x2: float, y1: float, y2: float) -> str:
    """Between two points in percent of the plot."""
    return f'<line class="{css}" x1="{percent(x1)}" x2="{percent(x2)}" y1="{percent(y1)}" y2="{percent(y2)}"/>'


def svg(css: str, label: str, parts: Sequence[str], given: str = 'role="img"') -> Markup:
    """The whole picture; label: what it says to those who cannot see it."""
    inside = "".join(parts)
    return Markup(f'<svg class="{css}" {given} aria-label="{escape(label)}">{inside}</svg>')  # noqa: S704


def percent(value: float) -> str:
    """`12.5%`, in two digits at most."""
    return f"{value:.2f}".rstrip("0").rstrip(".") + "%"


def box_plots(runs: Sequence[tuple[str, Results]], measures: Sequence[str] = ()) -> str:
    """`ragassay plot`: a page of every measure for every agent, of one run or of several side by side.

    A box from the first to the third quartile with the median in it, whiskers and outliers (`results.Box`), and below
    them the mean with its interval. runs: each with its name. measures: those named, or all in the order in which the
    runs have them. Raises InputError for a measure that no run has.
    """
    known = list(dict.fromkeys(m for _, run in runs for boxes in run.boxes.values() for m in boxes))
    if unknown := [measure for measure in measures if measure not in known]:
        remedy = f"{did_you_mean(unknown[0], known)}there are {', '.join(map(plain, known))}"
        raise InputError(f"no run has the measure '{plain(unknown[0])}'", remedy=remedy)
    panels = [_panel(runs, measure) for measure in (dict.fromkeys(measures) or known)]
    names = [one_line(name) for name, _ in runs]
    return environment().get_template("plot.html.j2").render(panels=panels, runs=names, title=" · ".join(names))


def _panel(runs: Sequence[tuple[str, Results]], measure: str) -> dict[str, Any]:
    """The rows of a measure, all on its own scale or on one that holds every value, run by run."""
    found = [(name, agent, box) for name, run in runs for agent, own in run.boxes.items() if (box := own.get(measure))]
    ends = [end for *_, box in found for end in (box.lowest, box.highest, box.minimum, box.maximum) if end is not None]
    ends += [end for *_, box in found for end in (box.mean.ci_low, box.mean.ci_high) if end is not None]
    axis = scale([Figure(value=ends[0], n=1, ci_low=min(ends), ci_high=max(ends))] if ends else [])
    kind, colours = kind_of(measure), sorted({agent for _, run in runs for agent in run.boxes})
    rows = [
        {
            "run": one_line(name),
            "agent": one_line(agent),
            "plot": box_plot(box, axis, colours.index(agent), f"{one_line(name)}, {one_line(agent)}", kind),
            "mean": shown(box.mean, kind).value,
            "interval": interval(box.mean, kind),
            "median": MISSING if box.median is None else number(box.median, kind),
            "n": f"{box.n:,}",
            "failed": f"{box.n_failed:,} failed" if box.n_failed else "",
        }
        for name, agent, box in found
    ]
    title, text = measure_name(measure), one_line(measure_help(measure))
    return {"title": title, "help": text, "rows": rows, "axis": axis_labels(axis, kind)}


def box_plot(box: Box, axis: Scale, colour: int, label: str, kind: Kind) -> Markup:
    """One row: box, median, whiskers and outliers above, the mean with its interval below; without values, ticks."""

    def across(css: str, one: float, other: float, y1: float, y2: float) -> str:
        return line(css, axis.percent(one), axis.percent(other), y1, y2)

    parts, words = [_grid(axis)], f"{label}: no value"
    if box.q1 is not None and box.q3 is not None and box.median is not None:
        assert box.low_whisker is not None and box.high_whisker is not None
        quartiles = f"{number(box.q1, kind)} to {number(box.q3, kind)}"
        words = f"{label}: median {number(box.median, kind)}, quartiles {quartiles}"
        left, right = axis.percent(box.q1), axis.percent(box.q3)
        parts += [
            across("wh", box.low_whisker, box.q1, 35, 35),
            across("wh", box.q3, box.high_whisker, 35, 35),
            *(across("wh", end, end, 22, 48) for end in (box.low_whisker, box.high_whisker)),
            f'<rect class="box" x="{percent(left)}" y="12%" width="{percent(right - left)}" height="46%"/>',
            across("median", box.median, box.median, 12, 58),
        ]
        for value in box.outliers:
            title = f"<title>{escape(number(value, kind))}</title>"
            parts.append(f'<circle class="out" cx="{percent(axis.percent(value))}" cy="35%" r="3">{title}</circle>')
    mean = box.mean
    if mean.value is not None:
        words += f", mean {number(mean.value, kind)}"
        if mean.ci_low is not None and mean.ci_high is not None:
            parts.append(across("ci", mean.ci_low, mean.ci_high, 80, 80))
            parts += [across("ci", end, end, 72, 88) for end in (mean.ci_low, mean.ci_high)]
        parts.append(f'<circle class="mean" cx="{percent(axis.percent(mean.value))}" cy="80%" r="4"/>')
    return svg(f"plot c{colour % COLOURS}", words, parts)
