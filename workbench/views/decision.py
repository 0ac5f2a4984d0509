"""The decision: what the report's first page says, then the agents on any measure, on all queries or a slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import quote

import numpy as np
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from ragassay.arrays import Floats
from ragassay.evaluate.looks import said
from ragassay.evaluate.report.decision import front
from ragassay.evaluate.report.judge import grid
from ragassay.evaluate.report.page import notices, read_results
from ragassay.evaluate.report.plots import Dot, HeatColumn, Scale, around_0, colours_of, heat_map, scale, scatter
from ragassay.evaluate.report.queries import looks_said, unreadable_documents
from ragassay.evaluate.report.screening import read_screen, screening_shown
from ragassay.evaluate.report.tables import ranking, ranking_on, summing_up
from ragassay.evaluate.report.wording import confidence, kind_of, number, overstated
from ragassay.evaluate.results import POINTS, Results
from ragassay.files import while_unchanged
from ragassay.records import Figure
from ragassay.table import Cell, Table
from ragassay.text import one_line

from ..asked import Bench, bench_of, index_of, is_part, render
from ..index.read import Index, Measure
from ..look import NAMED, Look, Slice, Wanted, choices, listing, look, mean_of, means_on, test_set
from . import View

_COSTS = {"cost_usd": "cost of an answer", "latency_s": "latency"}


def front_pictures(results: Results, on_front: Sequence[str]) -> list[tuple[str, Markup]]:
    """(title, picture) of the points by cost and by latency, each where every agent with points has it."""
    colour, points = colours_of(results.agents), results.points
    rated = {agent: points[agent] for agent in results.agents if agent in points and points[agent].value is not None}
    made = []
    for key, name in _COSTS.items():
        dots, told, kind = [], [], kind_of(key)
        for agent, quality in rated.items():
            cost = results.answers.get(agent, {}).get(key)
            if cost is None or cost.value is None:
                break
            words = number(quality.value or 0.0, "points"), number(cost.value, kind)
            told.append(f"{one_line(agent)} {words[0]} at {words[1]}")
            css = f"c{colour[agent]}{'' if agent in on_front else ' behind'}"
            title = f"{one_line(agent)}: {', '.join(words)}"
            dots.append(Dot(cost, quality, title, css, name=one_line(agent)[:24]))
        if rated and len(dots) == len(rated):
            title = f"Points by {name}"
            drawn = scatter(dots, f"{title}: {'; '.join(told)}", partial(number, kind=kind), "points")
            made.append((title, drawn))
    return made


ONE_BY_ONE = 150
"""Queries up to which each has a column of its own."""

BINS = 120


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


def heat_picture(
    bench: str, agents: Sequence[str], columns: Sequence[Column], measure: Measure, ids: Sequence[str]
) -> Markup:
    """The picture; a column leads to its query or to the list of its queries. ids: of all queries, by place."""
    kind, drawn = kind_of(measure.name), []
    for one in columns:
        single = len(one.places) == 1
        what = one_line(ids[one.places[0]]) if single else f"{len(one.places)} queries"
        told = [
            f"{one_line(agent)} {'no value' if np.isnan(value) else number(float(value), kind)}"
            for agent, value in zip(agents, one.values, strict=True)
        ]
        href = f"/{bench}/queries/{quote(ids[one.places[0]])}" if single else listing(bench, sorted(one.places))
        shares = [measure.share(float(value)) for value in one.values]
        if measure.lower_is_better:
            shares = [None if share is None else 1 - share for share in shares]
        drawn.append(HeatColumn(tuple(shares), href, f"{what}: {', '.join(told)}"))
    n = sum(len(one.places) for one in columns)
    return heat_map(drawn, f"{len(agents)} agents by {n} queries, the worst first")


def crossed_look(index: Index, results: Results, found: Look) -> Table | None:
    """None where the agents do not answer by two models and two prompts."""
    if not results.models_by_prompts:
        return None
    queries, measure = test_set(index), found.measure
    columns, owed = index.column(measure.name), index.owed(measure.name)
    chosen = np.isin(queries.by_id, found.places)
    at, means = queries.by_id[chosen], list[Figure | None]()
    for one in results.models_by_prompts:
        agents = [agent for agent in one.agents if agent in columns]
        values, due = ([of[agent][at] for agent in agents] for of in (columns, owed))
        clusters = queries.clusters.where(chosen)
        means.append(mean_of(np.array(values), np.array(due), clusters, measure.limits) if agents else None)
    return grid(measure.name, results.models_by_prompts, means, lower_is_better=measure.lower_is_better)


def show(request: Request) -> Response:
    """The page, or the look alone where htmx asks; a sentence where there are no figures yet."""
    bench = bench_of(request)
    if not bench.workspace.figures.exists():
        return render(request, "said.html.j2", bench, said="There are no figures yet: the run has not come to compare.")
    index = index_of(request)
    r = _results(bench.workspace.figures)
    given: dict[str, Any] = {"r": r, "colour": colours_of(r.agents), "confidence": confidence(r)}
    given |= _looked(bench, index, r, request.query_params)
    if is_part(request):
        return render(request, "decision_look.html.j2", bench, **given)
    return render(request, "decision.html.j2", bench, **given, **_decided(bench, r))


_results = while_unchanged(8)(read_results)


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
    on_all = measure == POINTS and chosen.whole
    told = tuple(row for row in results.comparisons if row.measure == POINTS) if on_all else ()
    return Wanted(measure, baseline, chosen, results.agents, compare.seed, compare.matters.get(measure), told)


def _looked(bench: Bench, index: Index, results: Results, params: Mapping[str, str]) -> dict[str, Any]:
    wanted, queries = wanted_of(bench, index, results, params), test_set(index)
    if wanted is None:
        return {"look": None}
    found = look(index, wanted)
    columns = index.column(wanted.measure)
    agents = list(found.means)
    values = np.array([columns[agent][list(found.places)] for agent in agents])
    heat = heat_columns(values, found.places, lower_is_better=found.measure.lower_is_better)
    shades = found.measure.up_to(float(value) for column in heat for value in column.values)
    menu: dict[str, list[str]] = {_OURS: []}  # what every run has, then the evaluators' by family
    for one in index.measures:
        evaluator = results.evaluators.get(one.name)
        family = _OURS if evaluator is None else results.evaluator_families.get(evaluator, "evaluators")
        menu.setdefault(family, []).append(one.name)
    return {
        "look": found,
        "wanted": wanted,
        "slice": wanted.slice,
        "menus": choices(index, queries),
        "chosen": wanted.slice.params(),
        "measures": {name: some for name, some in menu.items() if some},
        "kind": kind_of(wanted.measure),
        "ranking": _ranking(index, results, wanted),
        "gaps": around_0(row.difference for row in found.against),
        "ends": scale(found.means.values()),
        "heat": heat_picture(bench.name, agents, heat, shades, queries.ids) if found.places else None,
        "shades": shades,
        "crossed": crossed_look(index, results, found) if found.places else None,
        "n_columns": len(heat),
        "worst": [place for column in heat for place in column.places][:NAMED],
        "behind": wanted.slice.address(bench.name, found.places),
        "listing": lambda places: listing(bench.name, places),
        "notes": _notes(found, wanted, results),
    }


def _ranking(index: Index, results: Results, wanted: Wanted) -> Table:
    """The report's on all queries; on some, what of it is a mean over queries, from the values that it was made of."""
    if wanted.slice.whole:
        return ranking(results)
    means: dict[str, dict[str, Figure]] = {agent: {} for agent in results.agents}
    for measure in filter(None, (POINTS, *summing_up(results))):
        for agent, figure in means_on(index, measure, wanted.slice, results.agents).items():
            means[agent][measure] = figure
    return ranking_on(means, results)


_OURS = "retrieval, answers and games"
"""What the menu calls the measures that no evaluator gave."""


def _notes(found: Look, wanted: Wanted, results: Results) -> list[str]:
    """What to bear in mind of this look."""
    notes = [early] if (early := overstated(results)) and found.measure.name == POINTS else []
    if wanted.slice.cause:
        notes.append("These queries were picked by how the agents did on them, so they do not say who is better.")
    elif found.few:
        these = f"{found.n:,} {'query' if found.n == 1 else 'queries'} of {found.n_sections:,} "
        notes.append(f"{these}{'section' if found.n_sections == 1 else 'sections'} are too few to say who is better.")
    if not wanted.slice.whole:
        notes.append(
            "The 5% hold for one look, over all its pairs of agents. Whoever looks at several slices finds "
            "differences by luck: take what is found here as a question for new queries."
        )
    return notes


def _decided(bench: Bench, results: Results) -> dict[str, Any]:
    """What the report's first page says, and its pictures."""
    sheet, screen = front(results), bench.workspace.screen
    last = max(2, len(results.agents))
    return {
        "notices": notices(results, looks_said(bench.workspace), unreadable_documents(bench.workspace)),
        "early": overstated(results),
        "looks_said": said(results.looks) if results.looks else "",
        "front": sheet,
        "front_pictures": front_pictures(results, [row.agent for row in sheet.rows if row.beaten_by is None]),
        "ranks": _ranks(results),
        "ranks_axis": Scale(1.0, float(last), tuple(map(float, range(1, last + 1, 1 + last // 12)))),
        "screening": screening_shown(read_screen(screen)) if screen.exists() else None,
    }


def _ranks(results: Results) -> list[tuple[str, Figure, Cell, str]]:
    """Agent, rank, and the rank with its interval in words, where it has one."""
    if results.rating_detail is None:
        return []
    found = []
    for place, agent in enumerate(results.agents, 1):
        if agent in results.rating_detail.ranks:
            low, high = results.rating_detail.ranks[agent]
            ends = min(low, place), max(high, place)
            rank = Figure(value=place, n=results.points[agent].n, ci_low=ends[0], ci_high=ends[1])
            found.append((agent, rank, Cell(f"{place}", f"{ends[0]:g} to {ends[1]:g}"), ""))
    return found


class Decision(View):
    """Decision."""

    name, title, order = "decision", "Decision", 10
    routes = (("/decision", show, ["GET"]),)
