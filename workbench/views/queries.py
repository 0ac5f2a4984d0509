"""The list of queries: searched, narrowed, sorted, with every agent's value as a small mark."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, cast, get_args
from urllib.parse import urlencode

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from ragassay.arrays import Floats

from ..asked import bench_of, index_of, is_part, read, render, waiting
from ..index.read import FACETS, Asked, Index, Measure, Order
from . import View

Sort = Literal[Order, "worth", "spread"]
"""Also by the values of a measure: worst first, or the agents farthest apart."""


@dataclass(frozen=True)
class Listing:
    """What is asked for. measure: the name of one of the index's, "" for its first; agent: whose values are meant, ""
    for the mean over agents; low, high: the range of these values that is wanted, on the measure's own scale; failed:
    only queries with a failed record; places: only these places, in their short form ("0-3,7"), "" for all."""

    words: str = ""
    facets: tuple[tuple[str, str], ...] = ()
    sort: Sort = "place"
    measure: str = ""
    agent: str = ""
    low: float | None = None
    high: float | None = None
    failed: bool = False
    places: str = ""

    def address(self, **changes: object) -> str:
        """The part of an address behind the question mark, with fields changed; "" where nothing is asked for."""
        new = replace(self, **changes)  # type: ignore[arg-type]
        given = {"words": new.words, **dict(new.facets), "sort": "" if new.sort == "place" else new.sort}
        given |= {"measure": new.measure, "agent": new.agent, "places": new.places}
        given |= {name: "" if end is None else f"{end:g}" for name, end in (("low", new.low), ("high", new.high))}
        given |= {"failed": "1" if new.failed else ""}
        return urlencode({name: value for name, value in given.items() if value})


def listing_of(params: Mapping[str, str]) -> Listing:
    """What an address asks for; what it misspells is passed over."""
    sort = params.get("sort", "place")
    return Listing(
        words=params.get("words", "").strip()[:200],
        facets=tuple((name, params[name]) for name in FACETS if params.get(name)),
        sort=cast(Sort, sort) if sort in get_args(Sort) else "place",
        measure=params.get("measure", ""),
        agent=params.get("agent", ""),
        low=_number(params.get("low", "")),
        high=_number(params.get("high", "")),
        failed=params.get("failed") == "1",
        places=params.get("places", ""),
    )


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def measure_of(index: Index, listing: Listing) -> Measure | None:
    """The measure that is meant; None where there are no values yet."""
    named = (measure for measure in index.measures if measure.name == listing.measure)
    return next(named, index.measures[0] if index.measures else None)


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
    found = found[_within(values.of(listing.agent)[found], listing)]
    if listing.sort in ("worth", "spread"):
        worst = values.of(listing.agent) * (-1 if measure.lower_is_better else 1)
        found = found[np.argsort((worst if listing.sort == "worth" else -values.spread)[found], kind="stable")]
    return tuple(found.tolist())


def _within(values: Floats, listing: Listing) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether each value lies in the range asked for; one that is missing does only where none is asked for."""
    keep = np.ones(len(values), dtype=bool)
    slack = 1e-9
    if listing.low is not None:
        keep &= values >= listing.low - slack
    if listing.high is not None:
        keep &= values <= listing.high + slack
    return keep


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
    only an answer has the words; mean, spread: of the marks' values, None without any."""

    query: Mapping[str, Any]
    text: Sequence[tuple[str, bool]]
    found: Sequence[tuple[str, bool]]
    marks: Sequence[Mark]
    mean: float | None
    spread: float | None


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
    known = [value for value in given.values() if not math.isnan(value)]
    high = max(known, default=measure.low) if math.isinf(measure.high) else measure.high
    marks = [_mark(agent, value, measure.low, high) for agent, value in given.items()]
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


def _mark(agent: str, value: float, low: float, high: float) -> Mark:
    there = _there(value)
    share = None if there is None or high <= low else min(max((there - low) / (high - low), 0.0), 1.0)
    return Mark(agent, there, share)


def _there(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


AT_ONCE = 60
"""Rows that are sent at once; the next come when one scrolls to the end."""

MOST_CHOICES = 200
"""Values of a facet that can be chosen from."""


def show(request: Request) -> Response:
    """The page; the list alone, or its rows from `from` on, where htmx asks."""
    bench, index = bench_of(request), index_of(request)
    if index is None:
        return waiting(request, bench)
    listing, given = listing_of(request.query_params), request.query_params.get("from", "0")
    found = places(index, listing)
    first = int(given) if given.isdecimal() and len(given) < 10 else 0
    last = min(first + AT_ONCE, len(found))
    measure = measure_of(index, listing)
    values = None if measure is None else values_of(index, measure.name)
    shown: dict[str, Any] = {
        "rows": _rows(index, found[first:last], listing, values),
        "n": len(found),
        "following": last if last < len(found) else None,
        "listing": listing,
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


def _rows(index: Index, found: tuple[int, ...], listing: Listing, values: Values | None) -> list[Row]:
    measure = measure_of(index, listing)
    answers = _answers(index, found) if listing.words else {}
    return [
        row_of(query, answers.get(query["place"], ()), listing.words, measure, values) for query in index.queries(found)
    ]


def _answers(index: Index, found: tuple[int, ...]) -> dict[int, list[str]]:
    """The texts of the answers to these queries."""
    texts: dict[int, list[str]] = {}
    marks = ", ".join("?" * len(found))
    sql = f"SELECT query, text FROM answers WHERE text IS NOT NULL AND query IN ({marks}) ORDER BY query, agent"  # noqa: S608
    for row in index.rows(sql, found):
        texts.setdefault(row["query"], []).append(row["text"])
    return texts


class Queries(View):
    """The list of queries."""

    name, title, order = "queries", "Queries", 20
    routes = (("/queries", show, ["GET"]),)
