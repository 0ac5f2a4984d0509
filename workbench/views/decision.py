"""The decision: what the report's first page says, then the agents on any measure, on all queries or a slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import Response

from ragassay.arrays import Floats
from ragassay.evaluate.report import plots
from ragassay.evaluate.report.decision import front, lead_axis, lead_rows, to_decide
from ragassay.evaluate.report.judge import Grid, grid
from ragassay.evaluate.report.page import read_results
from ragassay.evaluate.report.plots import COLOURS, Scale, scale
from ragassay.evaluate.report.screening import read_screen, screening_shown
from ragassay.evaluate.report.wording import Kind, beside_the_verdict, confidence, kind_of, number
from ragassay.evaluate.results import POINTS, ModelByPrompt, Results
from ragassay.evaluate.statistics.clustered import Range, interval
from ragassay.evaluate.statistics.resamples import rounded
from ragassay.records import Figure
from ragassay.text import one_line

from ..asked import Bench, bench_of, index_of, is_part, render
from ..index.read import Index, Measure
from ..look import NAMED, Look, Slice, TestSet, Wanted, choices, colours_of, listing, look, test_set

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


ONE_BY_ONE = 150
"""Queries up to which each has a column of its own."""

BINS = 120
ROW = 26
"""Pixels."""
LEVELS = 9
"""Shades, the darkest the best."""


@dataclass(frozen=True)
class Column:
    """places: of its queries; values: (agents,), the means of those known, NaN where none is."""

    places: tuple[int, ...]
    values: Floats


def heat_columns(values: Floats, places: Sequence[int], *, lower_is_better: bool = False) -> list[Column]:
    """Of values (agents, queries), the queries at `places`: sorted by their mean over the agents, the worst first.

    Queries without any value come last. Bins are as even as can be.
    """
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    counts = known.sum(axis=0)
    means = np.where(counts > 0, filled.sum(axis=0) / np.maximum(counts, 1), np.inf)
    if lower_is_better:
        means = np.where(np.isinf(means), np.inf, -means)
    order = np.argsort(means, kind="stable")
    found = []
    for part in np.array_split(order, min(len(order), BINS) if len(order) > ONE_BY_ONE else max(1, len(order))):
        n = known[:, part].sum(axis=1)
        mean = np.where(n > 0, filled[:, part].sum(axis=1) / np.maximum(n, 1), np.nan)
        found.append(Column(tuple(places[i] for i in part), mean))
    return found


def shaded_over(measure: Measure, columns: Sequence[Column]) -> Measure:
    """The measure with the ends that its shades have: its scale's, or up to the highest value where that has no end."""
    if np.isfinite(measure.high):
        return measure
    values = np.concatenate([one.values for one in columns]) if columns else np.array([])
    known = values[~np.isnan(values)]
    return replace(measure, high=float(known.max()) if len(known) else measure.low)


def heat_map(
    bench: str, agents: Sequence[str], columns: Sequence[Column], measure: Measure, ids: Sequence[str]
) -> Markup:
    """The picture; a column is a link to its query or to the list of its queries. ids: of all queries, by place."""
    width = 100 / max(1, len(columns))
    parts = [_column(bench, agents, one, at * width, width, measure, ids) for at, one in enumerate(columns)]
    label = escape(f"{len(agents)} agents by {sum(len(one.places) for one in columns)} queries, the worst first")
    height = ROW * len(agents)
    inside = "".join(parts)
    return Markup(f'<svg class="heatmap" height="{height}" role="group" aria-label="{label}">{inside}</svg>')  # noqa: S704


def _column(
    bench: str, agents: Sequence[str], one: Column, x: float, width: float, measure: Measure, ids: Sequence[str]
) -> str:
    single = len(one.places) == 1
    href = f"/{bench}/queries/{quote(ids[one.places[0]])}" if single else listing(bench, sorted(one.places))
    what = one_line(ids[one.places[0]]) if single else f"{len(one.places)} queries"
    kind = kind_of(measure.name)
    told = [
        f"{one_line(agent)} {'no value' if np.isnan(value) else number(float(value), kind)}"
        for agent, value in zip(agents, one.values, strict=True)
    ]
    title = escape(f"{what}: {', '.join(told)}")
    cells = "".join(
        f'<rect class="{_shade(float(value), measure)}" x="{x:.3f}%" y="{ROW * row}" '
        f'width="{width + 0.02:.3f}%" height="{ROW - 2}"/>'
        for row, value in enumerate(one.values)
    )
    return f'<a href="{escape(href)}" tabindex="-1"><title>{title}</title>{cells}</a>'


def _shade(value: float, measure: Measure) -> str:
    """`h0` to `h8`, by where the value lies between the ends of its scale; `hx` where there is none."""
    if np.isnan(value) or measure.high <= measure.low:
        return "hx"
    share = (value - measure.low) / (measure.high - measure.low)
    share = 1 - share if measure.lower_is_better else share
    return f"h{round(min(max(share, 0.0), 1.0) * (LEVELS - 1))}"


def crossed_look(index: Index, results: Results, found: Look) -> Grid | None:
    """None where the agents do not answer by two models and two prompts."""
    if not results.models_by_prompts:
        return None
    queries = test_set(index)
    means = [_mean(index, one, found, queries, found.measure.limits) for one in results.models_by_prompts]
    return grid(found.measure.name, results.models_by_prompts, means, lower_is_better=found.measure.lower_is_better)


def _mean(index: Index, one: ModelByPrompt, found: Look, queries: TestSet, limits: Range | None) -> Figure | None:
    """As `Resamples.mean` makes it: a query counts as often as it has values."""
    columns, owed = index.column(found.measure.name), index.owed(found.measure.name)
    agents = [agent for agent in one.agents if agent in columns]
    if not agents:
        return None
    chosen = np.isin(queries.by_id, found.places)
    at = queries.by_id[chosen]
    values = np.array([columns[agent][at] for agent in agents])
    known = ~np.isnan(values)
    n, n_failed = int(known.sum()), int((np.array([owed[agent][at] for agent in agents]) & ~known).sum())
    if not n:
        return Figure(value=None, n=0, n_failed=n_failed)
    sums, counts = np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0).astype(np.float64)
    value, low, high = interval(sums, counts, queries.clusters.where(chosen), limits)
    return rounded(value, n, n_failed, low, high)


def show(request: Request) -> Response:
    """The page, or the look alone where htmx asks; a sentence where there are no figures yet."""
    bench = bench_of(request)
    if not bench.workspace.figures.exists():
        return render(request, "said.html.j2", bench, said="There are no figures yet: the run has not come to compare.")
    index = index_of(request)
    if index is None:
        return render(request, "waiting.html.j2", bench, error=request.app.state.keeper.error(bench))
    r = results_of(bench)
    given: dict[str, Any] = {"r": r, "colour": colours(r), "confidence": confidence(r)}
    given |= _looked(bench, index, r, request.query_params)
    if is_part(request):
        return render(request, "decision_look.html.j2", bench, **given)
    return render(request, "decision.html.j2", bench, **given, **_decided(r), **_pictures(bench, r))


def results_of(bench: Bench) -> Results:
    """`results.json`, read again where it has changed. Raises InputError."""
    path = bench.workspace.figures
    return _results(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _results(path: Path, changed_ns: int) -> Results:
    del changed_ns
    return read_results(path)


def colours(results: Results) -> dict[str, int]:
    """Agent to its colour, that of the report."""
    return colours_of(results.agents)


def wanted_of(bench: Bench, index: Index, results: Results, params: Mapping[str, str]) -> Wanted | None:
    """What the address asks for, what it misspells replaced by the report's; None where nothing is measured."""
    measures = [one.name for one in index.measures if len(index.column(one.name)) > 0]
    if not measures:
        return None
    usual = POINTS if POINTS in measures else measures[0]
    measure = params.get("measure", "") if params.get("measure") in measures else usual
    agents = [agent for agent in results.agents if agent in index.column(measure)]
    if not agents:
        return None
    leader = results.verdict.leader if results.verdict.leader in agents else agents[0]
    baseline = params.get("against", "") if params.get("against") in agents else leader
    compare = bench.workspace.experiment.compare
    chosen = Slice.asked(params, index, test_set(index))
    own = tuple(row for row in results.comparisons if row.measure == measure) if measure == POINTS else ()
    told = own if chosen.whole else ()
    return Wanted(measure, baseline, chosen, results.agents, compare.seed, compare.matters.get(measure), told)


def _looked(bench: Bench, index: Index, results: Results, params: Mapping[str, str]) -> dict[str, Any]:
    wanted, queries = wanted_of(bench, index, results, params), test_set(index)
    if wanted is None:
        return {"look": None}
    found = look(index, wanted)
    gaps = plots.scale([*(row.difference for row in found.against), Figure(value=0.0, n=0)], 4)
    columns = index.column(wanted.measure)
    agents = list(found.means)
    values = np.array([columns[agent][list(found.places)] for agent in agents])
    heat = heat_columns(values, found.places, lower_is_better=found.measure.lower_is_better)
    shades = shaded_over(found.measure, heat)
    return {
        "look": found,
        "wanted": wanted,
        "slice": wanted.slice,
        "menus": choices(index, queries),
        "chosen": wanted.slice.params(),
        "measures": _menu(index, results),
        "kind": kind_of(wanted.measure),
        "gaps": gaps,
        "ends": plots.scale(list(found.means.values())),
        "heat": heat_map(bench.name, agents, heat, shades, queries.ids) if found.places else None,
        "shades": shades,
        "heat_row": ROW,
        "crossed": crossed_look(index, results, found) if found.places else None,
        "n_columns": len(heat),
        "worst": [place for column in heat for place in column.places][:NAMED],
        "behind": wanted.slice.address(bench.name, found.places),
        "listing": lambda places: listing(bench.name, places),
        "notes": _notes(found, wanted),
    }


_OURS = "retrieval, answers and games"
"""What the menu calls the measures that no evaluator gave."""


def _menu(index: Index, results: Results) -> dict[str, list[str]]:
    """Group to its measures: what every run has, then the evaluators' by family."""
    groups: dict[str, list[str]] = {_OURS: []}
    for one in index.measures:
        evaluator = results.evaluators.get(one.name)
        family = _OURS if evaluator is None else results.evaluator_families.get(evaluator, "evaluators")
        groups.setdefault(family, []).append(one.name)
    return {name: some for name, some in groups.items() if some}


def _notes(found: Look, wanted: Wanted) -> list[str]:
    """What to bear in mind of this look."""
    said = []
    if wanted.slice.cause:
        said.append("These queries were picked by how the agents did on them, so they do not say who is better.")
    elif found.few:
        these = f"{found.n:,} {'query' if found.n == 1 else 'queries'} of {found.n_sections:,} "
        said.append(f"{these}{'section' if found.n_sections == 1 else 'sections'} are too few to say who is better.")
    if not wanted.slice.whole:
        said.append(
            "The 5% hold for one look, over all its pairs of agents. Whoever looks at several slices finds "
            "differences by luck: take what is found here as a question for new queries."
        )
    return said


def _decided(results: Results) -> dict[str, Any]:
    lead = lead_rows(results)
    return {
        "beside": beside_the_verdict(results.verdict),
        "lead": lead,
        "lead_axis": lead_axis(lead),
        "to_decide": to_decide(results),
    }


def _pictures(bench: Bench, results: Results) -> dict[str, Any]:
    sheet = front(results)
    best = [row.agent for row in sheet.rows if row.beaten_by is None]
    workspace = bench.workspace
    screened = workspace.screen.exists()
    return {
        "front": sheet,
        "front_pictures": front_pictures(results, results.points, best, colours(results)),
        "ranks": _ranks(results),
        "ranks_axis": _places_axis(len(results.agents)),
        "screening": screening_shown(read_screen(workspace.screen)) if screened else None,
    }


def _places_axis(n: int) -> plots.Scale:
    """From first to last, with at most a dozen whole ticks."""
    last = max(2, n)
    return plots.Scale(1.0, float(last), tuple(map(float, range(1, last + 1, 1 + last // 12))))


def _ranks(results: Results) -> list[tuple[str, Figure]]:
    """Agent to its rank with its interval, where it has one."""
    if results.rating_detail is None:
        return []
    found = []
    for place, agent in enumerate(results.agents, 1):
        if agent in results.rating_detail.ranks:
            low, high = results.rating_detail.ranks[agent]
            ends = {"ci_low": float(min(low, place)), "ci_high": float(max(high, place))}
            found.append((agent, Figure(value=float(place), n=results.points[agent].n, **ends)))
    return found


ROUTES = (("/decision", show, ["GET"]),)
