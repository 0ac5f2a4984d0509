"""The queries: a list that can be searched, narrowed and sorted, and a page for each."""

from __future__ import annotations

from typing import Any, cast, get_args

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ..asked import bench_of, index_of
from ..index.read import FACETS, Asked, Sort
from ..page import is_part, render

AT_ONCE = 60
"""Rows that are sent at once; the next come when one scrolls to the end."""


def show_list(request: Request) -> Response:
    """The list, or its rows from `from` on where htmx asks."""
    bench, index = bench_of(request), index_of(request)
    if index is None:
        return render(request, "waiting.html.j2", bench, error=request.app.state.keeper.error(bench))
    asked = asked_of(request)
    places = index.places(asked)
    given = request.query_params.get("from", "0")
    first = int(given) if given.isdecimal() and len(given) < 10 else 0
    rows = index.queries(places[first : first + AT_ONCE])
    following = first + AT_ONCE if first + AT_ONCE < len(places) else None
    facets = {name: index.facet(name) for name in FACETS}
    template = "queries_rows.html.j2" if is_part(request) else "queries.html.j2"
    shown: dict[str, Any] = {
        "rows": rows,
        "n": len(places),
        "following": following,
        "asked": asked,
        "facets": facets,
        "index": index,
    }
    return render(request, template, bench, params=request.query_params, **shown)


def show_query(request: Request) -> Response:
    """One query, by its id."""
    bench, index = bench_of(request), index_of(request)
    if index is None:
        return render(request, "waiting.html.j2", bench, error=request.app.state.keeper.error(bench))
    place = index.place_of(request.path_params["query"])
    if place is None:
        raise HTTPException(404)
    (query,) = index.queries([place])
    answers = index.answers(place)
    passages = index.passages(sorted({id for answer in answers for id in answer["passages"]}))
    shown: dict[str, Any] = {
        "answers": answers,
        "passages": passages,
        "labels": index.labels(place),
        "games": index.games(place),
    }
    return render(request, "query.html.j2", bench, query=query, **shown)


def asked_of(request: Request) -> Asked:
    """What the address asks for; what it misspells is passed over."""
    params = request.query_params
    sort = params.get("sort", "place")
    facets = tuple((name, params[name]) for name in FACETS if params.get(name))
    return Asked(params.get("words", "")[:200], facets, cast(Sort, sort) if sort in get_args(Sort) else "place")


ROUTES = (("/queries", show_list, ["GET"]), ("/queries/{query:path}", show_query, ["GET"]))
