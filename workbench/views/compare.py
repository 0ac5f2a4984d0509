"""Compare runs: what was changed, which figures moved beyond noise, which queries, and what was handed over."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ragassay.evaluate.report.plots import Scale, around_0, colours_of
from ragassay.evaluate.report.wording import MISSING, kind_of, measure_name, number, only_alone, shown
from ragassay.evaluate.results import POINTS
from ragassay.evidence import Span, merged
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, while_unchanged
from ragassay.records import Figure, Page
from ragassay.table import Agent, Cell, Column, Row, Table
from ragassay.text import listed, one_line

from ..asked import Bench, bench_of, index_of, is_part, render, start_of
from ..index.read import Index
from ..look import TestSet, mean_of, test_set
from ..moved import Changes, Moved, SameQueries, by_table, changed, changes_of, judged_otherwise, moved, same_queries
from ..runs import Runs, runs_table, told
from . import View

_SPANS = "SELECT passage, doc, first, stop FROM spans"
"""Passages are held against each other by document and offsets in characters, so that other chunking compares. Offsets
count in a document's text as it was read: a document that the runs read otherwise is not compared."""

FEW = 100
"""Queries up to which only their own rows are read."""

MOST_NAMED = 30_000
"""Passages asked for by id at once; SQLite takes some more."""


@dataclass(frozen=True)
class HandedOver:
    """figure: the mean over queries of the share of the characters handed over in either run that both have; n_failed:
    queries where either run handed nothing over, or from where is not known. read_otherwise: documents whose text is
    not the same in both."""

    figure: Figure
    read_otherwise: tuple[str, ...]


@dataclass(frozen=True)
class SameTexts:
    """docs: the documents that both runs read the same; otherwise: all others, by name."""

    docs: frozenset[str]
    otherwise: tuple[str, ...]

    @classmethod
    def of(cls, before: Workspace, after: Workspace) -> SameTexts:
        """Of two runs. Raises InputError where `pages.jsonl` cannot be read."""
        paths = (before.pages, after.pages)
        one, other = (_texts(path) if path.exists() else {} for path in paths)
        otherwise = {doc for doc in one.keys() | other.keys() if one.get(doc) != other.get(doc)}
        return cls(frozenset(one.keys() - otherwise), tuple(sorted(otherwise)))


def overlap(one: Sequence[Span], other: Sequence[Span]) -> float:
    """Characters in both over characters in either, 0 to 1. Either is `merged`, with at least one span.

    Jaccard's coefficient.
    """
    common, i, j = 0, 0, 0
    while i < len(one) and j < len(other):
        mine, theirs = one[i], other[j]
        if mine.doc == theirs.doc:
            common += max(0, min(mine.end, theirs.end) - max(mine.start, theirs.start))
        if (mine.doc, mine.end) <= (theirs.doc, theirs.end):
            i += 1
        else:
            j += 1
    total = sum(span.end - span.start for span in (*one, *other))
    return common / (total - common)


@while_unchanged(8)
def _texts(path: Path) -> dict[str, str]:
    """Document to the digest of its text as it was read."""
    made: dict[str, hashlib._Hash] = {}
    for page in read_records(path, Page):
        digest = made.setdefault(page.doc, hashlib.sha256())
        digest.update(json.dumps([page.page, page.text]).encode())
    return {doc: digest.hexdigest() for doc, digest in made.items()}


@lru_cache(maxsize=32)
def handed_over(before: Index, after: Index, agent: str, texts: SameTexts) -> HandedOver:
    """Of an agent of both runs, over the queries in common."""
    same = same_queries(before, after)
    pairs = list(zip(same.before.tolist(), same.after.tolist(), strict=True))
    common = common_text(before, after, agent, pairs, texts)
    values = np.array([common.get(place, np.nan) for place, _ in pairs])
    figure = mean_of(values, np.ones(len(values), dtype=bool), same.clusters, (0.0, 1.0))
    return HandedOver(figure, texts.otherwise)


def common_text(
    before: Index, after: Index, agent: str, pairs: Sequence[tuple[int, int]], texts: SameTexts
) -> dict[int, float]:
    """Place before to `overlap`, of those of `pairs` (places before and after) where it is known."""
    mine, theirs = _spans(before, agent, [one for one, _ in pairs]), _spans(after, agent, [one for _, one in pairs])
    found: dict[int, float] = {}
    for place, there in pairs:
        one, other = mine.get(place), theirs.get(there)
        if one and other and all(span.doc in texts.docs for span in (*one, *other)):
            found[place] = overlap(one, other)
    return found


def _spans(index: Index, agent: str, wanted: Sequence[int]) -> dict[int, tuple[Span, ...]]:
    """Place of a query to what the agent handed over; a query with a passage of unknown place is not there."""
    sql = "SELECT query, passages FROM answers JOIN agents ON agents.place = agent WHERE name = ? AND passages != '[]'"
    few = len(wanted) <= FEW
    some = f" AND query IN ({', '.join('?' * len(wanted))})" if few else ""
    rows = index.rows(sql + some, [agent, *(wanted if few else ())])
    named = {row["query"]: json.loads(row["passages"]) for row in rows}
    if few:
        ids = sorted({id for ids in named.values() for id in ids})[:MOST_NAMED]
        places = _span_of(index.rows(f"{_SPANS} WHERE passage IN ({', '.join('?' * len(ids))})", ids))
    else:
        places = _all_places(index)
    found: dict[int, tuple[Span, ...]] = {}
    for query, ids in named.items():
        known = [span for id in ids if (span := places.get(id)) is not None]
        if len(known) == len(ids):
            found[query] = merged(known)
    return found


@lru_cache(maxsize=8)
def _all_places(index: Index) -> dict[str, Span]:
    return _span_of(index.rows(_SPANS))


def _span_of(rows: Sequence[sqlite3.Row]) -> dict[str, Span]:
    return {row["passage"]: Span(row["doc"], row["first"], row["stop"]) for row in rows}


AT_ONCE = 60
"""Changed queries that are shown at once."""


@dataclass(frozen=True)
class Against:
    """One other run against the first. rows: all figures; chosen: those of the measure asked for; changes: of the agent
    asked for, where both runs have it; common: of the queries shown, the share of the text handed over that is the
    same; handed: whether there is such text to compare; changed: table of the experiment to what is said of its
    settings; apart: why the runs are not to be compared, '' where they are."""

    bench: Bench
    same: SameQueries
    queries: TestSet
    rows: tuple[Moved, ...]
    chosen: tuple[Moved, ...]
    axis: Scale
    changes: Changes | None
    common: dict[int, float]
    handed: bool
    changed: Sequence[tuple[str, Sequence[str]]]
    apart: str
    notes: tuple[str, ...]

    @property
    def n_tested(self) -> int:
        """How many of the figures were tested, and corrected together."""
        return sum(row.p is not None for row in self.rows)


def show(request: Request) -> Response:
    """The run of the address against those of `with`; without one against the next that is served, if any. Another
    `run` in the address takes the place of the first, and where both are one there is only what there is to choose."""
    bench, params = bench_of(request), request.query_params
    benches: Runs = request.app.state.benches
    if (first := params.get("run", bench.name)) != bench.name:
        if first not in benches:
            raise HTTPException(404)
        rest = [(name, value) for name, value in params.multi_items() if name != "run"]
        return RedirectResponse(f"/{first}/compare?{urlencode(rest)}", 303)
    names = [name for name in params.getlist("with") if name]
    if "with" not in params:
        names = [name for name in benches.served if name != bench.name][:1]
    if any(name not in benches for name in names):
        raise HTTPException(404)
    others = [benches[name] for name in dict.fromkeys(names) if name != bench.name]
    indexes = [index_of(request, one) for one in (bench, *others)] if others else []
    there = benches.there()
    there += [one for one in (bench, *others) if one not in there]
    given: dict[str, Any] = {"others": others, "there": there, "parents": benches.parents, "told": told}
    given |= dict.fromkeys(("measures", "agents", "runs"), ()) | {"same": bool(names)}
    if others:
        given |= _context(bench, others, indexes[0], indexes[1:], request)
    return render(request, "compare.html.j2", bench, **given)


def _context(
    bench: Bench, others: Sequence[Bench], first: Index, rest: Sequence[Index], request: Request
) -> dict[str, Any]:
    tables = [moved(first, other) for other in rest]
    measures = list(dict.fromkeys(row.measure.name for table in tables for row in table))
    agents = [agent for agent in first.agents if any(agent in other.agents for other in rest)]
    params = request.query_params
    usual = [name for name in measures if name != POINTS] or measures  # games are against the other agents of a run
    measure = params["measure"] if params.get("measure") in measures else (usual[0] if usual else "")
    agent = params["agent"] if params.get("agent") in agents else (agents[0] if agents else "")
    start = start_of(request)
    runs = [
        _against(bench, other, (first, index), rows, measure, agent, start)
        for other, index, rows in zip(others, rest, tables, strict=True)
    ]

    def address(measure: str = measure, agent: str = agent, start: int = 0) -> str:
        """Of this view with another measure, agent, or start of the list."""
        given = [*(("with", one.name) for one in others), ("measure", measure), ("agent", agent)]
        return f"/{bench.name}/compare?{urlencode([*given, ('from', start)] if start else given)}"

    return {
        "chosen_runs": runs_table([bench, *others]),
        "runs": runs,
        "measures": measures,
        "measure": measure,
        "kind": kind_of(measure),
        "agents": agents,
        "agent": agent,
        "start": start,
        "at_once": AT_ONCE,
        "figures": [_figures_table(bench, run, address) for run in runs],
        "changed": [_changes_table(bench, test_set(first), run, measure, start) for run in runs],
        "told_words": told_words,
        "address": address,
        "colour": colours_of(first.agents),
    }


def told_words(row: Moved, n_tested: int) -> Cell:
    """Whether the figure moved; `n_tested` were corrected together."""
    words = {"better": "▲ better", "worse": "▼ worse"}.get(row.said, row.said)
    alone = only_alone(row.difference, False, n_tested, "figures") if row.said == "not told apart" else ""
    return Cell(words, more=(alone,) if alone else (), css="undecided")


def _figures_table(bench: Bench, run: Against, address: Callable[..., str]) -> Table:
    """All figures of two runs; each measure leads to its own page."""
    rows: list[Row] = []
    for row in run.rows:
        name, kind = row.measure.name, kind_of(row.measure.name)
        link = Markup('<a href="{}">{}</a>').format(address(measure=name, agent=row.agent), measure_name(name))
        figures = (shown(one, kind) for one in (row.before, row.after, row.difference))
        rows.append((link, Agent(row.agent), *figures, told_words(row, run.n_tested)))
    names = ("Measure", "Agent", bench.name, run.bench.name, "Difference", "It is")
    return Table("All figures", [Column(name) for name in names], rows)


def _changes_table(bench: Bench, here: TestSet, run: Against, measure: str, start: int) -> Table:
    """The queries that changed most, `AT_ONCE` from `start` on; each value leads to the query in its run."""
    rows: list[Row] = []
    kind, link = kind_of(measure), Markup('<a href="/{}/queries/{}">{}</a>')
    for row in run.changes.rows[start : start + AT_ONCE] if run.changes else ():
        before = link.format(bench.name, quote(here.ids[row.before]), number(row.values[0], kind))
        after = link.format(run.bench.name, quote(run.queries.ids[row.after]), number(row.values[1], kind))
        by = f"{'+' if row.by > 0 else ''}{number(row.by, kind)}{' flipped' if row.flipped else ''}"
        same = number(run.common[row.before], "share") if row.before in run.common else MISSING
        rows.append((here.texts[row.before], before, after, by, same))
    names = ("Query", bench.name, run.bench.name, "Change", "Same text handed over")
    return Table("Queries that changed", [Column(name, numbers=name != "Query") for name in names], rows)


def _against(
    bench: Bench,
    other: Bench,
    indexes: tuple[Index, Index],
    rows: tuple[Moved, ...],
    measure: str,
    agent: str,
    start: int,
) -> Against:
    before, after = indexes
    settings = changed(bench.workspace, other.workspace)
    same = same_queries(before, after)
    chosen = tuple(row for row in rows if row.measure.name == measure)
    mine = next((row for row in chosen if row.agent == agent), None)
    some = len(same.before) > 0
    changes = changes_of(before, after, same, mine.measure, agent) if mine and some else None
    shown = [(row.before, row.after) for row in changes.rows[start : start + AT_ONCE]] if changes else []
    texts, apart = SameTexts.of(bench.workspace, other.workspace), ""
    if not same.paired:
        n, smaller = len(same.before), len(same.before) + min(same.only_before, same.only_after)
        few = f"only {n:,} of {smaller:,} queries {'is' if n == 1 else 'are'}" if n else "no query is"
        reworded = f", and {same.reworded:,} have the same id and another text" if same.reworded else ""
        apart = f"The runs are on other test sets and not comparable: {few} the same in both{reworded}."
    return Against(
        other,
        same,
        test_set(after),
        rows,
        chosen,
        around_0(row.difference for row in chosen),
        changes,
        common_text(before, after, agent, shown, texts),
        some and agent in after.agents,
        by_table(settings),
        apart,
        tuple(_notes(before, after, same, rows, judged_otherwise(settings), (bench, other))),
    )


def _notes(
    before: Index, after: Index, same: SameQueries, rows: Sequence[Moved], judged: bool, benches: tuple[Bench, Bench]
) -> list[str]:
    """What to bear in mind before the figures."""
    early = [f"{one.name}: {lead[:1].lower()}{lead[1:]}" for one in benches if (lead := told(one).early)]
    if not same.paired:
        return early
    n = len(same.before)
    only = f"{same.only_before:,} only in the first run, {same.only_after:,} only in the other"
    reworded = f", of which {same.reworded:,} have the same id and another text" if same.reworded else ""
    rest = f" ({only}{reworded}: left out)" if same.only_before or same.only_after else ""
    said = [f"{n:,} {'query is' if n == 1 else 'queries are'} the same in both and compared one by one{rest}.", *early]
    if judged:
        said.append("What judges was changed too, so a figure may have moved for that alone.")
    for which, index, other in (("the first run", before, after), ("the other run", after, before)):
        if alone := [one_line(agent) for agent in index.agents if agent not in other.agents]:
            said.append(f"Only {which} has {listed(alone)}.")
    if before.measure(POINTS) and after.measure(POINTS):
        if any(row.measure.name == POINTS for row in rows):
            said.append("Win rate is against the other agents of the same run: where all got better it stays.")
        else:
            said.append("Win rate is not compared: other agents played.")
    return said


def show_handed(request: Request) -> Response:
    """How much of what an agent handed over is the same: a part of the page, or a page of its own."""
    bench = bench_of(request)
    other = request.app.state.benches.get(request.query_params.get("with", ""))
    if other is None or other is bench:
        raise HTTPException(404)
    before, after = index_of(request, bench), index_of(request, other)
    agent = request.query_params.get("agent", "")
    if agent not in before.agents or agent not in after.agents:
        raise HTTPException(404)
    over = handed_over(before, after, agent, SameTexts.of(bench.workspace, other.workspace))
    template = "compare_handed_part.html.j2" if is_part(request) else "compare_handed.html.j2"
    return render(request, template, bench, over=over, agent=agent, other=other)


class CompareRuns(View):
    """Several runs beside each other."""

    name, title, order = "compare", "Compare runs", 30
    routes = (("/compare", show, ["GET"]), ("/compare/handed", show_handed, ["GET"]))
