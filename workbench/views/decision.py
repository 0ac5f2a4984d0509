"""The decision: what the report's first page says, then the agents on any measure, on all queries or a slice."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from ragassay.evaluate.report import plots
from ragassay.evaluate.report.decision import front, lead_axis, lead_rows, to_decide
from ragassay.evaluate.report.page import read_results
from ragassay.evaluate.report.screening.screen_page import read_screen
from ragassay.evaluate.report.screening.shown import screening_shown
from ragassay.evaluate.report.wording import beside_the_verdict, confidence, kind_of
from ragassay.evaluate.results import POINTS, Results
from ragassay.records import Figure

from ..asked import bench_of, index_of
from ..bench import Bench
from ..index.read import Index
from ..looks.colours import colours_of
from ..looks.front import front_pictures
from ..looks.heat import ROW, heat_columns, heat_map, shaded_over
from ..looks.look import NAMED, Look, Wanted, look
from ..looks.models_by_prompts import crossed_look
from ..looks.slices import Slice, choices, listing
from ..looks.test_set import test_set
from ..page import is_part, render


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
