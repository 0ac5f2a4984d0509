"""Compare runs: what was changed, which figures moved beyond noise, which queries, and what was handed over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ragassay.evaluate.report import plots
from ragassay.evaluate.report.wording import kind_of
from ragassay.evaluate.results import POINTS
from ragassay.records import Figure
from ragassay.text import listed, one_line

from ..asked import bench_of
from ..bench import Bench
from ..compared.changes import Changes, changes_of
from ..compared.handed_over import SameTexts, common_text, handed_over
from ..compared.moved import Moved, moved
from ..compared.same_queries import SameQueries, same_queries
from ..compared.settings import differing, judged_otherwise, settings_of
from ..index.read import Index
from ..looks.colours import colours_of
from ..looks.test_set import TestSet, test_set
from ..page import is_part, render

AT_ONCE = 60
"""Changed queries that are shown at once."""


@dataclass(frozen=True)
class Against:
    """One other run against the first. rows: all figures; chosen: those of the measure asked for; changes: of the agent
    asked for, where both runs have it; common: of the queries shown, the share of the text handed over that is the
    same; handed: whether there is such text to compare."""

    bench: Bench
    same: SameQueries
    queries: TestSet
    rows: tuple[Moved, ...]
    chosen: tuple[Moved, ...]
    axis: plots.Scale
    changes: Changes | None
    common: dict[int, float]
    handed: bool
    notes: tuple[str, ...]

    @property
    def n_tested(self) -> int:
        """How many of the figures were tested, and corrected together."""
        return sum(row.p is not None for row in self.rows)


def show(request: Request) -> Response:
    """The folder of the address against those of `with`; without one against the next that is served."""
    bench = bench_of(request)
    benches: Mapping[str, Bench] = request.app.state.benches
    if len(benches) < 2:
        return render(request, "compare_alone.html.j2", bench)
    names = request.query_params.getlist("with") or [next(name for name in benches if name != bench.name)]
    others = [benches[name] for name in dict.fromkeys(names) if name in benches and name != bench.name]
    if len(others) < len(set(names)):
        raise HTTPException(404)
    indexes = []
    for one in (bench, *others):
        index = request.app.state.keeper.index(one)
        if index is None:
            return render(request, "waiting.html.j2", bench, error=request.app.state.keeper.error(one))
        indexes.append(index)
    given = _context(bench, others, indexes[0], indexes[1:], request)
    return render(request, "compare.html.j2", bench, others=others, **given)


def _context(
    bench: Bench, others: Sequence[Bench], first: Index, rest: Sequence[Index], request: Request
) -> dict[str, Any]:
    settings = differing([settings_of(one.workspace) for one in (bench, *others)])
    tables = [moved(first, other) for other in rest]
    measures = list(dict.fromkeys(row.measure.name for table in tables for row in table))
    agents = [agent for agent in first.agents if any(agent in other.agents for other in rest)]
    params = request.query_params
    measure = params["measure"] if params.get("measure") in measures else _usual(measures)
    agent = params["agent"] if params.get("agent") in agents else (agents[0] if agents else "")
    given = params.get("from", "0")
    start = int(given) if given.isdecimal() and len(given) < 10 else 0
    judged = judged_otherwise(settings)
    runs = [
        _against(bench, other, (first, index), rows, measure, agent, start, judged)
        for other, index, rows in zip(others, rest, tables, strict=True)
    ]
    names = sorted(first.agents)
    return {
        "settings": settings,
        "runs": runs,
        "measures": measures,
        "measure": measure,
        "kind": kind_of(measure),
        "agents": agents,
        "agent": agent,
        "start": start,
        "at_once": AT_ONCE,
        "here": test_set(first),
        "kinds": kind_of,
        "address": partial(_address, bench.name, [one.name for one in others], measure=measure, agent=agent),
        "colour": colours_of(names),
    }


def _address(first: str, others: Sequence[str], measure: str, agent: str, start: int = 0) -> str:
    """Of this view with another measure, agent, or start of the list."""
    given = [*(("with", name) for name in others), ("measure", measure), ("agent", agent)]
    return f"/{first}/compare?{urlencode([*given, ('from', start)] if start else given)}"


def _usual(measures: Sequence[str]) -> str:
    """The first that is not of games, which are against the other agents of a run."""
    return next((name for name in measures if name != POINTS), measures[0] if measures else "")


def _against(
    bench: Bench,
    other: Bench,
    indexes: tuple[Index, Index],
    rows: tuple[Moved, ...],
    measure: str,
    agent: str,
    start: int,
    judged: bool,
) -> Against:
    before, after = indexes
    same = same_queries(before, after)
    chosen = tuple(row for row in rows if row.measure.name == measure)
    mine = next((row for row in chosen if row.agent == agent), None)
    some = len(same.before) > 0
    changes = changes_of(before, after, same, mine.measure, agent) if mine and some else None
    shown = [(row.before, row.after) for row in changes.rows[start : start + AT_ONCE]] if changes else []
    texts = SameTexts.of(bench.workspace, other.workspace)
    return Against(
        other,
        same,
        test_set(after),
        rows,
        chosen,
        plots.scale([*(row.difference for row in chosen), Figure(value=0.0, n=0)], 4),
        changes,
        common_text(before, after, agent, shown, texts),
        some and agent in after.agents,
        tuple(_notes(before, after, same, rows, judged)),
    )


def _notes(before: Index, after: Index, same: SameQueries, rows: Sequence[Moved], judged: bool) -> list[str]:
    """What to bear in mind before the figures."""
    said = [_queries_sentence(same)]
    if judged:
        said.append("What judges was changed too, so a figure may have moved for that alone.")
    for index, other in ((before, after), (after, before)):
        alone = [one_line(agent) for agent in index.agents if agent not in other.agents]
        if alone:
            said.append(f"Only {'the first run' if index is before else 'the other run'} has {listed(alone)}.")
    measured = [{one.name for one in index.measures} for index in (before, after)]
    if POINTS in measured[0] & measured[1]:
        if any(row.measure.name == POINTS for row in rows):
            said.append("Win rate is against the other agents of the same run: where all got better it stays.")
        else:
            said.append("Win rate is not compared: other agents played.")
    return said


def _queries_sentence(same: SameQueries) -> str:
    n = len(same.before)
    only = f"{same.only_before:,} only in the first run, {same.only_after:,} only in the other"
    reworded = f", of which {same.reworded:,} have the same id and another text" if same.reworded else ""
    if same.paired:
        rest = f" ({only}{reworded}: left out)" if same.only_before or same.only_after else ""
        return f"{n:,} {'query is' if n == 1 else 'queries are'} the same in both and compared one by one{rest}."
    few = f"Only {n:,} queries are" if n else "No query is"
    return (
        f"{few} the same in both ({only}{reworded}), so the figures are those of different queries, each of all of its "
        "run: a difference may be the queries' as well as the agent's, and takes more to be told from chance."
    )


def show_handed(request: Request) -> Response:
    """How much of what an agent handed over is the same: a part of the page, or a page of its own."""
    bench = bench_of(request)
    other = request.app.state.benches.get(request.query_params.get("with", ""))
    if other is None or other is bench:
        raise HTTPException(404)
    before, after = (request.app.state.keeper.index(one) for one in (bench, other))
    if before is None or after is None:
        return render(request, "waiting.html.j2", bench, error=None)
    agent = request.query_params.get("agent", "")
    if agent not in before.agents or agent not in after.agents:
        raise HTTPException(404)
    over = handed_over(before, after, agent, SameTexts.of(bench.workspace, other.workspace))
    template = "compare_handed_part.html.j2" if is_part(request) else "compare_handed.html.j2"
    return render(request, template, bench, over=over, agent=agent, other=other)


ROUTES = (("/compare", show, ["GET"]), ("/compare/handed", show_handed, ["GET"]))
