"""The list of queries: searched, narrowed, sorted, with every agent's value as a small mark."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ..asked import bench_of, index_of
from ..index.read import Index
from ..page import is_part, render
from ..shown.listed import Listing, Values, listing_of, measure_of, places, values_of
from ..shown.rows import Row, row_of

AT_ONCE = 60
"""Rows that are sent at once; the next come when one scrolls to the end."""

MOST_CHOICES = 200
"""Values of a facet that can be chosen from."""


def show(request: Request) -> Response:
    """The page; the list alone, or its rows from `from` on, where htmx asks."""
    bench, index = bench_of(request), index_of(request)
    if index is None:
        return render(request, "waiting.html.j2", bench, error=request.app.state.keeper.error(bench))
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


ROUTES = (("/queries", show, ["GET"]),)
