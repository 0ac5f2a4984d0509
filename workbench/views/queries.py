"""The list of queries: searched, narrowed, sorted; a column an agent with its values or its answers; and as a file."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, cast, get_args
from urllib.parse import urlencode

import numpy as np
from starlette.datastructures import ImmutableMultiDict
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ragassay.arrays import Floats
from ragassay.evaluate.report.plots import colours_of
from ragassay.evaluate.report.wording import measure_name
from ragassay.evaluate.results import POINTS
from ragassay.files import json_line
from ragassay.text import csv_cell, csv_of, one_line

from ..asked import bench_of, index_of, is_part, read, render, start_of
from ..index.read import FACETS, SOURCES, Asked, Failed, Index, Measure, Order
from ..look import facet_said
from . import View

Sort = Literal[Order, "worth", "spread"]
"""Also by the values of a measure: worst first, or the agents farthest apart."""


@dataclass(frozen=True)
class Listing:
    """What is asked for. measure: the name of one of the index's, "" for its first; agent: whose values are meant, ""
    for the mean over agents; low, high: the range of these values that is wanted, on the measure's own scale; failed:
    what must have failed; places: only these places, in their short form ("0-3,7"), "" for all. answers: whether
    agents' columns show answers; agents, figures: the columns that are shown, empty for all of them."""

    words: str = ""
    facets: tuple[tuple[str, str], ...] = ()
    sort: Sort = "place"
    measure: str = ""
    agent: str = ""
    low: float | None = None
    high: float | None = None
    failed: Failed = ""
    places: str = ""
    answers: bool = False
    agents: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()

    def address(self, **changes: object) -> str:
        """The part of an address behind the question mark, with fields changed; "" where nothing is asked for."""
        new = replace(self, **changes)  # type: ignore[arg-type]
        given: dict[str, object] = {"words": new.words, **dict(new.facets)}
        given |= {"sort": "" if new.sort == "place" else new.sort}
        given |= {"measure": new.measure, "agent": new.agent, "places": new.places}
        given |= {name: "" if end is None else f"{end:g}" for name, end in (("low", new.low), ("high", new.high))}
        given |= {"failed": new.failed, "show": "answers" if new.answers else ""}
        given |= {"agents": new.agents, "figures": new.figures}
        return urlencode({name: value for name, value in given.items() if value}, doseq=True)

    def said(self, measure: Measure | None) -> str:
        """What it narrows the list by: `real, kind multi-hop, answers failed`; "" where that is nothing."""
        parts = [f"with “{one_line(self.words)}”"] if self.words else []
        parts += [facet_said(name, value) for name, value in self.facets]
        if measure is not None and (self.low is not None or self.high is not None):
            ends = [f"from {self.low:g}"] if self.low is not None else []
            ends += [f"to {self.high:g}"] if self.high is not None else []
            of = one_line(self.agent) if self.agent else "all agents’ mean"
            parts.append(f"{measure_name(measure.name)} of {of} {' '.join(ends)}")
        parts += [{"1": "something failed", "answers": "answers failed"}[self.failed]] if self.failed else []
        return ", ".join([*parts, *(["picked elsewhere"] if self.places else [])])


def listing_of(params: Mapping[str, str]) -> Listing:
    """What an address asks for; what it misspells is passed over."""
    sort, failed = params.get("sort", "place"), params.get("failed", "")
    several = params if isinstance(params, ImmutableMultiDict) else ImmutableMultiDict(params)
    return Listing(
        words=params.get("words", "").strip()[:200],
        facets=tuple((name, params[name]) for name in FACETS if params.get(name)),
        sort=cast(Sort, sort) if sort in get_args(Sort) else "place",
        measure=params.get("measure", ""),
        agent=params.get("agent", ""),
        low=_number(params.get("low", "")),
        high=_number(params.get("high", "")),
        failed=cast(Failed, failed) if failed in get_args(Failed) else "",
        places=params.get("places", ""),
        answers=params.get("show") == "answers",
        agents=tuple(several.getlist("agents")),
        figures=tuple(several.getlist("figures")),
    )


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def measure_of(index: Index, listing: Listing) -> Measure | None:
    """The measure that is meant, of answers the points where nobody says; None where there are no values yet."""
    named = index.measure(listing.measure or (POINTS if listing.answers else ""))
    return named or (index.measures[0] if index.measures else None)


@dataclass(frozen=True, eq=False)
class Values:
    """A measure's values by query. by_agent: as they are; mean: over the agents that have one; spread: their standard
    deviation; NaN where there is none. Of shape (queries,) each."""

    by_agent: Mapping[str, Floats]
    mean: Floats
    spread: Floats

    def of(self, agent: str) -> Floats:
        """The agent's values, or the means where there is no such agent."""
        return self.by_agent.get(agent, self.mean)


@lru_cache(maxsize=16)
def values_of(index: Index, measure: str) -> Values:
    """All agents' values of a measure."""
    by_agent = index.column(measure)
    table = np.array(list(by_agent.values())) if by_agent else np.full((1, index.n_queries), np.nan)
    there = ~np.isnan(table)
    n = there.sum(axis=0)
    filled = np.where(there, table, 0.0)
    mean = np.where(n > 0, filled.sum(axis=0) / np.maximum(n, 1), np.nan)
    spread = np.sqrt(np.where(there, (filled - mean) ** 2, 0.0).sum(axis=0) / np.maximum(n, 1))
    return Values(by_agent, mean, np.where(n > 0, spread, np.nan))


@lru_cache(maxsize=32)
def places(index: Index, listing: Listing) -> tuple[int, ...]:
    """The places of the queries that are listed, in their order."""
    order: Order = "place" if listing.sort == "worth" or listing.sort == "spread" else listing.sort
    asked = Asked(listing.words, listing.facets, order, listing.failed)
    found = np.array(index.places(asked), dtype=np.int64)
    if listing.places:
        found = found[np.isin(found, read(listing.places))]
    measure = measure_of(index, listing)
    if measure is None or not len(found):
        return tuple(found.tolist())
    values = values_of(index, measure.name)
    slack = 1e-9
    if listing.low is not None:
        found = found[values.of(listing.agent)[found] >= listing.low - slack]
    if listing.high is not None:
        found = found[values.of(listing.agent)[found] <= listing.high + slack]
    if listing.sort in ("worth", "spread"):
        worst = values.of(listing.agent) * (-1 if measure.lower_is_better else 1)
        found = found[np.argsort((worst if listing.sort == "worth" else -values.spread)[found], kind="stable")]
    return tuple(found.tolist())


BEFORE, BEHIND = 60, 120
"""Characters that are shown of an answer before and behind the first word that was looked for."""


@dataclass(frozen=True)
class Mark:
    """An agent's value for a query; share: where it lies between the ends of the measure's scale, 0 to 1, of one
    without an upper end between its lowest and the highest agent's; both are None where it has none."""

    agent: str
    value: float | None
    share: float | None


@dataclass(frozen=True)
class Row:
    """A query of the list. text: its question in parts, with whether each was looked for; found: of an answer, where
    only an answer has the words; mean, spread: of all agents' values, None without any. answers: agent to its answer;
    others: the means of the other measures that are shown."""

    query: Mapping[str, Any]
    text: Sequence[tuple[str, bool]]
    found: Sequence[tuple[str, bool]]
    marks: Sequence[Mark]
    mean: float | None
    spread: float | None
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    others: Mapping[str, float | None] = field(default_factory=dict)

    def mark(self, agent: str) -> Mark | None:
        """The agent's, where it has the measure."""
        return next((one for one in self.marks if one.agent == agent), None)


def row_of(
    query: Mapping[str, Any], answers: Iterable[str], words: str, measure: Measure | None, values: Values | None
) -> Row:
    """The row of one query. `answers` are looked at only where the question does not have the words."""
    text = marked(query["text"], words)
    found = () if not words or any(there for _, there in text) else _of_answers(answers, words)
    place = query["place"]
    if measure is None or values is None:
        return Row(query, text, found, (), None, None)
    given = {agent: float(column[place]) for agent, column in values.by_agent.items()}
    scale = measure.up_to(given.values())
    marks = [Mark(agent, _there(value), scale.share(value)) for agent, value in given.items()]
    return Row(query, text, found, marks, _there(values.mean[place]), _there(values.spread[place]))


def marked(text: str, words: str) -> list[tuple[str, bool]]:
    """The text in parts, with whether each begins as a word that was looked for, letter case aside."""
    wanted = [re.escape(word) for word in words.split()]
    if not wanted:
        return [(text, False)]
    parts = re.split(rf"(?<![^\W_])({'|'.join(sorted(wanted, key=len, reverse=True))})", text, flags=re.IGNORECASE)
    return [(part, index % 2 == 1) for index, part in enumerate(parts) if part]


def _of_answers(answers: Iterable[str], words: str) -> list[tuple[str, bool]]:
    for answer in answers:
        at = 0
        for part, there in marked(answer, words):
            if there:
                start, end = max(at - BEFORE, 0), at + BEHIND
                some = ("… " if start else "") + " ".join(answer[start:end].split()) + (" …" * (end < len(answer)))
                return marked(some, words)
            at += len(part)
    return []


def _there(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


AT_ONCE, ANSWERS_AT_ONCE = 60, 20
"""Rows that are sent at once; the next come when one scrolls to the end."""

MOST_CHOICES = 200
"""Values of a facet that can be chosen from."""

FIGURES = ("mean", "spread", "flips", "failed")
"""What is shown of a query besides its agents where nobody chooses; a measure is one more, by its mean."""


@dataclass(frozen=True)
class Columns:
    """The columns that are shown, and what there is to choose from."""

    agents: tuple[str, ...]
    figures: tuple[str, ...]
    all_agents: tuple[str, ...]
    all_figures: tuple[str, ...]


def columns_of(index: Index, listing: Listing) -> tuple[Listing, Columns]:
    """What is shown; the listing without the names that there are not, or that are all there are."""
    every = (*FIGURES, *(one.name for one in index.measures))
    agents = tuple(name for name in index.agents if name in listing.agents)
    figures = tuple(name for name in every if name in listing.figures)
    shown = Columns(agents or index.agents, figures or FIGURES, index.agents, every)
    some, these = () if agents == index.agents else agents, () if figures == FIGURES else figures
    return replace(listing, agents=some, figures=these), shown


def show(request: Request) -> Response:
    """The page; the list alone, or its rows from `from` on, where htmx asks."""
    bench, index = bench_of(request), index_of(request)
    listing, columns = columns_of(index, listing_of(request.query_params))
    found, first = places(index, listing), start_of(request)
    last = min(first + (ANSWERS_AT_ONCE if listing.answers else AT_ONCE), len(found))
    measure = measure_of(index, listing)
    values = None if measure is None else values_of(index, measure.name)
    shown: dict[str, Any] = {
        "rows": _rows(index, found[first:last], listing, values, columns),
        "n": len(found),
        "following": last if last < len(found) else None,
        "listing": listing,
        "said": listing.said(measure),
        "conversation": dict(listing.facets).get("conversation") if found else None,
        "columns": columns,
        "colour": colours_of(index.agents),
        "measure": measure,
        "index": index,
        "facets": {name: those[:MOST_CHOICES] for name, those in index.facets.items()},
    }
    template = "queries.html.j2"
    if is_part(request):
        template = "queries_rows.html.j2" if first else "queries_list.html.j2"
    page = render(request, template, bench, **shown)
    if is_part(request) and not first:
        page.headers["hx-push-url"] = f"/{bench.name}/queries" + ("?" + listing.address()).rstrip("?")
    return page


def _rows(index: Index, found: tuple[int, ...], listing: Listing, values: Values | None, columns: Columns) -> list[Row]:
    measure = measure_of(index, listing)
    answers = _answers(index, found) if listing.words or listing.answers else {}
    means = {name: values_of(index, name).mean for name in columns.figures if name not in FIGURES}
    rows = []
    for query in index.queries(found):
        given = answers.get(query["place"], {})
        texts = [one["text"] for one in given.values() if one["text"] is not None]
        row = row_of(query, texts, listing.words, measure, values)
        others = {name: _there(mean[query["place"]]) for name, mean in means.items()}
        marks = [mark for mark in row.marks if mark.agent in columns.agents]
        rows.append(replace(row, marks=marks, answers=given if listing.answers else {}, others=others))
    return rows


def _answers(index: Index, found: Sequence[int]) -> dict[int, dict[str, Mapping[str, Any]]]:
    """Each query's answers by agent."""
    told: dict[int, dict[str, Mapping[str, Any]]] = {}
    marks = ", ".join("?" * len(found))
    sql = f"SELECT answers.*, name FROM answers JOIN agents ON place = agent WHERE query IN ({marks}) ORDER BY agent"  # noqa: S608
    for row in index.rows(sql, found):
        told.setdefault(row["query"], {})[row["name"]] = dict(row)
    return told


WRITTEN_AT_ONCE = 200
"""Queries of a file that are read together."""

KINDS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}


def write(request: Request) -> Response:
    """The list as a file: a row for each query and chosen agent, with its answer and its value of every measure."""
    bench, index, kind = bench_of(request), index_of(request), request.path_params["kind"]
    if kind not in KINDS:
        raise HTTPException(404)
    listing, columns = columns_of(index, listing_of(request.query_params))
    parts = _written(index, places(index, listing), columns.agents)
    headers = {"content-disposition": f'attachment; filename="{bench.name}-queries.{kind}"'}
    lines = _csv(parts) if kind == "csv" else ("".join(map(json_line, rows)) for rows in parts)
    return StreamingResponse(lines, media_type=KINDS[kind], headers=headers)


def _written(index: Index, found: Sequence[int], agents: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
    values = {one.name: values_of(index, one.name).by_agent for one in index.measures}
    for start in range(0, len(found), WRITTEN_AT_ONCE):
        part = found[start : start + WRITTEN_AT_ONCE]
        answers, rows = _answers(index, part), []
        for query in index.queries(part):
            about = {"query_id": query["id"], "question": query["text"], "source": SOURCES[query["model"] is not None]}
            about |= {"written_by": query["model"]} | {name: query[name] for name in ("kind", "role", "doc")}
            for agent in agents:
                one = answers.get(query["place"], {}).get(agent, {})
                told = {"answer": one.get("text"), "error": one.get("error")}
                told |= {"passages": json.loads(one.get("passages", "[]"))}
                told |= {name: one.get(name) for name in ("cost_usd", "latency_s")}
                figures = {
                    name: _there(by_agent[agent][query["place"]]) if agent in by_agent else None
                    for name, by_agent in values.items()
                }
                rows.append(about | {"agent": agent} | told | figures)
        yield rows


def _csv(parts: Iterable[Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    """RFC 4180; None is an empty cell, a list JSON, and no cell begins a formula (`text.csv_cell`)."""
    for number, rows in enumerate(parts):
        written: list[Iterable[Any]] = [rows[0]] if rows and not number else []
        for row in rows:
            written.append(json.dumps(v, ensure_ascii=False) if isinstance(v, list) else v for v in row.values())
        yield csv_of([csv_cell(cell) if isinstance(cell, str) else cell for cell in cells] for cells in written)


class Queries(View):
    """The list of queries."""

    name, title, order = "queries", "Queries", 20
    routes = (("/queries", show, ["GET"]), ("/queries.{kind}", write, ["GET"]))
