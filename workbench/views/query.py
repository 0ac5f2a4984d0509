"""One query: its evidence, the agents' answers side by side, passages, grades and games with what was said of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ragassay.errors import InputError
from ragassay.evaluate.report.queries.evidence import place as place_named

from ..asked import bench_of, index_of
from ..bench import Bench
from ..index.read import Index
from ..looks.colours import colours_of
from ..page import render
from ..pages.library import Library
from ..pages.spans import documents_of, evidence_in
from ..shown.answers import groups_of
from ..shown.games import lists_of, pairs_of
from ..shown.listed import listing_of, measure_of, places, values_of
from ..shown.passages import PassageShown, ids_of, page_address, passages_of
from ..shown.rows import marked, row_of

DRAWN_AHEAD = 4
"""Pages of the evidence and the first passages that are drawn while one reads the query's page."""

AS_ASKED = frozenset({"evidence", "doc", "first_page", "last_page"})
"""Metadata that is shown in a way of its own."""


@dataclass(frozen=True)
class EvidenceShown:
    """A piece of the evidence of a query: its words, where they stand, and the address of the page."""

    text: str
    where: str
    page: str | None


def show(request: Request) -> Response:
    """The page of a query, by its id; what the list was asked for goes along, for the next and the previous."""
    bench, index = bench_of(request), index_of(request)
    if index is None:
        return render(request, "waiting.html.j2", bench, error=request.app.state.keeper.error(bench))
    place = index.place_of(request.path_params["query"])
    if place is None:
        raise HTTPException(404)
    (query,) = index.queries([place])
    answers, labels, games = index.answers(place), index.labels(place), index.games(place)
    known = index.passages(ids_of(answers, labels))
    library: Library = request.app.state.library
    passages = [_openable(library, bench, one) for one in passages_of(query, answers, labels, known, bench.name)]
    evidence = _evidence(library, bench, query)
    _draw_ahead(library, bench, query, passages)
    numbers = {passage.id: passage.number for passage in passages}
    listing = listing_of(request.query_params)
    measure = measure_of(index, listing)
    shown: dict[str, Any] = {
        "groups": groups_of(answers, numbers, request.query_params.get("reference")),
        "passages": passages,
        "numbers": numbers,
        "labels": _by_answer(labels),
        "pairs": pairs_of(games, index.agents),
        "lists": lists_of(index.lists(place)),
        "row": row_of(query, (), "", measure, None if measure is None else values_of(index, measure.name)),
        "measure": measure,
        "metadata": _told(query["metadata"]),
        "evidence": evidence,
        "made_from": _made_from(library, bench, query),
        "question": marked(query["text"], listing.words),
        "colour": colours_of(index.agents),
        "listing": listing,
        "n_agents": len(index.agents),
    }
    return render(request, "query.html.j2", bench, query=query, **shown, **_around(index, request, place))


def _around(index: Index, request: Request, place: int) -> dict[str, Any]:
    """The queries before and after it in the list, and where in the list it is (from 1)."""
    listed = places(index, listing_of(request.query_params))
    if place not in listed:
        return {"before": None, "after": None, "at": None, "n_listed": len(listed)}
    at = listed.index(place)
    near = {row["place"]: row["id"] for row in index.queries(listed[max(at - 1, 0) : at + 2])}
    before = near[listed[at - 1]] if at else None
    after = near[listed[at + 1]] if at + 1 < len(listed) else None
    return {"before": before, "after": after, "at": at + 1, "n_listed": len(listed)}


def _by_answer(labels: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Agent to what judges and evaluators gave its answer."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in labels:
        if row["of"] != "passage":
            found.setdefault(row["subject"], []).append(row)
    return found


def _told(metadata: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Metadata as names and values."""
    return [
        (name, _said(value)) for name, value in metadata.items() if name not in AS_ASKED and value not in (None, "")
    ]


def _said(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _draw_ahead(library: Library, bench: Bench, query: Mapping[str, Any], passages: Sequence[PassageShown]) -> None:
    """Pages of the document that the query is about, which one may look at next."""
    about = [query["metadata"], *(one.passage["metadata"] for one in passages if one.passage is not None and one.page)]
    places = [(one.get("doc"), one.get("first_page")) for one in about]
    there = [(doc, page) for doc, page in dict.fromkeys(places) if library.has_page(bench.workspace, doc, page)]
    if there:
        pages = [page for doc, page in there if doc == there[0][0]]
        library.ahead(bench.workspace, there[0][0], pages[:DRAWN_AHEAD])


def _openable(library: Library, bench: Bench, shown: PassageShown) -> PassageShown:
    """Without the address of a page that there is neither a text nor a picture of."""
    given = {} if shown.passage is None else shown.passage["metadata"]
    there = shown.page is None or library.has_page(bench.workspace, given.get("doc"), given.get("first_page"))
    return shown if there else replace(shown, page=None)


def _made_from(library: Library, bench: Bench, query: Mapping[str, Any]) -> tuple[str, str | None]:
    """The pages that the question was made from: in words, and the address of the first, where there is that page."""
    given = query["metadata"]
    doc, page = given.get("doc"), given.get("first_page")
    there = library.has_page(bench.workspace, doc, page)
    return place_named(given), page_address(bench.name, doc, page, {"query": query["id"]}) if there else None


def _evidence(library: Library, bench: Bench, query: Mapping[str, Any]) -> list[EvidenceShown]:
    found = []
    for doc in documents_of(query["metadata"]):
        try:
            document = library.document(bench.workspace, doc)
        except InputError:
            continue
        for one in [] if document is None else evidence_in(query["metadata"], document):
            assert document is not None
            pages = [piece.page for piece in document.pieces(one.start, one.end)]
            where = {"doc": doc, "first_page": pages[0], "last_page": pages[-1]} if pages else {"doc": doc}
            address = page_address(bench.name, doc, where.get("first_page"), {"query": query["id"]})
            found.append(EvidenceShown(document.text[one.start : one.end], place_named(where), address))
    return found


ROUTES = (("/queries/{query:path}", show, ["GET"]),)
