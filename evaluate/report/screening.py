"""`screen.html`: the screening by itself, one self-contained page, before there are answers and games."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, cos, floor, log10, pi, sin
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape
from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import first_problem, read_json, write_text
from ragassay.records import Figure
from ragassay.text import one_line, plain

from ..screening.screened import BeforeAfter, ScreenResults, SettingEffect, VariantFigures
from .environment import environment
from .plots import Scale, axis_labels, scale, whisker
from .wording import MISSING, Shown, number, shown

AT_TOKENS = "_at_tokens"
MEASURES = {
    "evidence_recall": ("recall", "share of the evidence's characters that were handed over"),
    "evidence_ndcg": ("nDCG", "how early new evidence comes, 1 for the best order of the passages found"),
    "evidence_precision": ("precision", "share of the characters handed over that are evidence"),
    "evidence_iou": ("IoU", "evidence that was handed over, of all that is evidence or was handed over"),
    "evidence_mrr": ("MRR", "mean of 1 / rank of the first passage that holds a whole piece of evidence"),
}
"""Of each measure of evidence, what it is called and what it means."""


def measure_words(measure: str, results: ScreenResults) -> str:
    """`evidence recall`, `evidence recall at 1,500 tokens`."""
    bare = measure.removesuffix(AT_TOKENS)
    name = f"evidence {MEASURES[bare][0]}" if bare in MEASURES else one_line(measure)
    return f"{name} {at_words(results)}" if measure.endswith(AT_TOKENS) else name


def at_words(results: ScreenResults) -> str:
    """`at 1,500 tokens`, where chunkings meet."""
    return f"at {results.context_tokens:,} tokens" if results.context_tokens else "at equal context"


def duration(seconds: float | None) -> str:
    """In two digits or more: `0.42 ms`, `12 ms`, `1.3 s`."""
    if seconds is None:
        return MISSING
    if seconds >= 0.9995:
        return f"{seconds:,.1f} s"
    thousandths = seconds * 1000
    return f"{thousandths:.{0 if thousandths >= 9.95 else 1 if thousandths >= 0.995 else 2}f} ms"


def size(n_bytes: int | None) -> str:
    """`3.1 MB`, in powers of ten."""
    if n_bytes is None:
        return MISSING
    if n_bytes < 1000:
        return f"{n_bytes} B"
    power, unit = next(each for each in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")) if n_bytes >= each[0] * 0.9995)
    return f"{n_bytes / power:,.1f} {unit}"


def p_words(p: float | None) -> str:
    """In three digits; a dash where it is not defined."""
    return MISSING if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def level_words(level: str | float | bool | None) -> str:
    """A value of a setting."""
    return "none" if level is None else one_line(str(level))


# Inline SVG in percent of its width and pixels of its height, so that words stay as large as they are on a phone. Texts
# are escaped.

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


@dataclass(frozen=True)
class Row:
    """A line of a table: its name, what that means, and a figure for each column."""

    name: str
    help: str
    cells: tuple[Shown, ...]


@dataclass(frozen=True)
class Level:
    """A value of a setting: how far it is from the others, and its mean, over the same queries."""

    name: str
    plot: Markup
    difference: Shown
    p: str
    mean: Shown


@dataclass(frozen=True)
class Effect:
    """A setting: its name, what it is among, a sentence, and its levels."""

    setting: str
    among: str
    sentence: str
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class Line:
    """A variant in the table of all."""

    name: str
    badge: str
    on_front: bool
    quality: Shown
    others: tuple[str, ...]


def screening_shown(results: ScreenResults) -> dict[str, Any]:
    """What the template `screening.html.j2` is given."""
    first, *others = sentences(results) or [""]
    quality = measure_words(results.quality, results)
    return {
        "n": len(results.variants),
        "n_queries": results.n_queries,
        "n_sections": results.n_sections,
        "quality": quality,
        "first": first,
        "others": others,
        "sure": bool(results.chosen and results.chosen.sure),
        "panels": panels(results),
        "key": [(badge, name) for name, badge in badges(results).items()],
        "n_front": sum(variant.on_front for variant in results.variants),
        "before_after": list(_before_after(results)),
        "n_splits": results.chosen.n_splits if results.chosen else 0,
        "finalists": list(_finalists(results)),
        "at_tokens": at_words(results),
        **_effects(results),
        "columns": ["nDCG", f"recall {at_words(results)}", "tokens", "latency"],
        "lines": _lines(results),
    }


def sentences(results: ScreenResults) -> list[str]:
    """What is said, without what stands beside it anyway: the effects of settings, and lists of names."""
    effects = {effect.sentence for effect in results.effects}
    finalists = [plain(name) for name in results.finalists]
    untold = [plain(f"{effect.setting} ({effect.among})") for effect in results.effects if not effect.matters]

    def lists(said: str) -> bool:
        return any(names and all(name in said for name in names) for names in (finalists, untold))

    first, others = results.said[:1], results.said[1:]
    return [*first, *(said for said in others if said not in effects and not lists(said))]


def _before_after(results: ScreenResults) -> Iterator[Row]:
    chosen = results.chosen
    if chosen is None:
        return
    name, quality = one_line(chosen.name), measure_words(results.quality, results)
    yield _two(f"{quality} of {name}", chosen.mean)
    if chosen.runner_up and chosen.lead:
        yield _two(f"its lead over the second, {one_line(chosen.runner_up)}", chosen.lead)
    if chosen.baseline and chosen.lead_over_baseline:
        yield _two(f"its lead over the baseline, {one_line(chosen.baseline)}", chosen.lead_over_baseline)


def _two(name: str, pair: BeforeAfter) -> Row:
    return Row(name, "", (shown(pair.before, "measure"), shown(pair.after, "measure")))


def _finalists(results: ScreenResults) -> Iterator[Row]:
    """A row for each figure, with a cell for each finalist."""
    by_name = {variant.name: variant for variant in results.variants}
    rows = [by_name[name] for name in results.finalists]
    for at in ("", AT_TOKENS):
        for measure, (name, meaning) in MEASURES.items():
            if any(getattr(row, measure + at) is not None for row in rows):
                words = f"{name} {at_words(results)}" if at else name
                absent = "not computed for this variant"
                yield Row(words, meaning, tuple(shown(getattr(row, measure + at), "measure", absent) for row in rows))
    yield Row("tokens", "handed over for a query", tuple(shown(row.tokens, "number") for row in rows))
    yield Row("latency p50", "median of a search", tuple(_bare(duration(row.latency_p50_s)) for row in rows))
    yield Row("latency p95", "of 95% of the searches", tuple(_bare(duration(row.latency_p95_s)) for row in rows))
    yield Row("index: time", "of making it, vectors at hand left out", tuple(_bare(duration(r.index_s)) for r in rows))
    yield Row("index: size", "of all that it is made of", tuple(_bare(size(row.index_bytes)) for row in rows))


def _bare(words: str) -> Shown:
    return Shown(words, "", "", "")


def _effects(results: ScreenResults) -> dict[str, Any]:
    """Those that matter and the others, on one axis, so that their lengths compare."""
    axis = scale([Figure(value=0.0, n=1)] + [one.difference for effect in results.effects for one in effect.levels], 3)
    bare = replace(axis, ticks=(0.0,))

    def made(effect: SettingEffect) -> Effect:
        among = "all kinds" if effect.among == "all" else one_line(effect.among)
        levels = [
            Level(
                level_words(one.level),
                whisker(one.difference, bare, 4, level_words(one.level), "measure"),
                shown(one.difference, "measure"),
                p_words(one.p_holm),
                replace(shown(one.mean, "measure"), n=""),
            )
            for one in effect.levels
        ]
        return Effect(one_line(effect.setting), among, effect.sentence, tuple(levels))

    return {
        "matter": [made(effect) for effect in results.effects if effect.matters],
        "do_not": [made(effect) for effect in results.effects if not effect.matters],
        "axis": axis_labels(axis, "measure"),
    }


def _lines(results: ScreenResults) -> list[Line]:
    """The highest quality first; those without a value last."""
    marks = badges(results)

    def place(variant: VariantFigures) -> tuple[bool, float, str]:
        value = _shown_value(getattr(variant, results.quality, None))
        return (value is None, -(value or 0.0), variant.name)

    return [
        Line(
            name=one_line(variant.name),
            badge=marks.get(variant.name, ""),
            on_front=variant.on_front,
            quality=shown(getattr(variant, results.quality, None), "measure", "no query has a value"),
            others=_others(variant),
        )
        for variant in sorted(results.variants, key=place)
    ]


def _others(variant: VariantFigures) -> tuple[str, ...]:
    measures = (variant.evidence_ndcg, variant.evidence_recall_at_tokens)
    values = [shown(figure, "measure").value for figure in measures]
    return (*values, shown(variant.tokens, "number").value, duration(variant.latency_p50_s))


def _shown_value(figure: Figure | None) -> float | None:
    return None if figure is None else figure.value


def read_screen(path: Path) -> ScreenResults:
    """The screening of a run. Raises InputError, with what to do, where it is missing or of another layout."""
    if not path.is_file():
        raise InputError("there is no screening yet", file=path, remedy="run `ragassay screen` first")
    try:
        return ScreenResults.model_validate(read_json(path))
    except ValidationError as error:
        raise InputError(first_problem(error), file=path, remedy="run `ragassay screen` again") from None


def write_screen_page(workspace: Workspace) -> None:
    """Write `screen.html` from `screen.json`; without one there is no page. Raises InputError for another layout."""
    if not workspace.screen.exists():
        workspace.screen_page.unlink(missing_ok=True)
        return
    write_text(workspace.screen_page, screen_page(read_screen(workspace.screen), workspace.corpus.resolve().name))


def screen_page(results: ScreenResults, corpus: str) -> str:
    """The page. The same record gives the same bytes."""
    template = environment().get_template("screen.html.j2")
    return template.render(screening=screening_shown(results), corpus=corpus, colour={})
