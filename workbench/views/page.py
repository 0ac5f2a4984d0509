"""A page of a document, with a passage and a query's evidence shown where they stand on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from ..asked import Bench, bench_of, index_of, render
from ..index.read import Index
from ..pages.pictures import Library, Picture
from ..pages.place import Placed
from ..pages.texts import DocumentPages, Piece, Stretch, evidence_in, stretch_of_passage
from . import View

AT_ONCE = 3
"""Pages that are shown under one another, where a passage runs over several."""


@dataclass(frozen=True)
class Shown:
    """A stretch on one page, and where that is on the picture; `placed` is None where there is no picture."""

    stretch: Stretch
    piece: Piece
    placed: Placed | None

    @property
    def boxes(self) -> Sequence[tuple[int, int, int, int]]:
        """None unless enough of the stretch was found."""
        return self.placed.boxes if self.placed is not None and self.placed.found else ()


@dataclass(frozen=True)
class Sheet:
    """One page: its picture, if there is a PDF, its text, and what stands on it."""

    number: int
    picture: Picture | None
    text: str | None
    shown: Sequence[Shown]

    @property
    def parts(self) -> list[tuple[str, str]]:
        """The text in parts, each with the kinds of what it belongs to ("passage evidence")."""
        text = self.text or ""
        cuts = sorted({0, len(text), *(at for one in self.shown for at in (one.piece.start, one.piece.end))})
        return [
            (
                text[a:b],
                " ".join(sorted({o.stretch.kind for o in self.shown if o.piece.start <= a and b <= o.piece.end})),
            )
            for a, b in pairwise(cuts)
        ]


def show(request: Request) -> Response:
    """The page, and those after it that the passage runs on to."""
    bench, index, library = bench_of(request), index_of(request), _library(request)
    doc, number = request.path_params["doc"], _number(request)
    document = library.document(bench.workspace, doc)
    if document is None:
        raise HTTPException(404)
    passage, query = _passage(request, index), _query(request, index)
    stretches = _stretches(request, document, passage, query)
    pictured = library.picture(bench.workspace, doc, number)
    if document.page(number) is None and (pictured is None or pictured.error):
        raise HTTPException(404)
    there = _numbers(number, document, stretches)
    sheets = [_sheet(library, bench, document, page, stretches) for page in there]
    neighbours = [page for page in (there[-1] + 1, there[0] - 1) if page in document.numbers]
    library.ahead(bench.workspace, doc, neighbours)
    kept = ("passage", "query", "start", "end")  # in the addresses of other pages of the document
    context: dict[str, Any] = {
        "doc": doc,
        "number": number,
        "last": there[-1],
        "pages": document.numbers,
        "sheets": sheets,
        "passage": passage,
        "query": query,
        "labels": _labels(index, passage, query),
        "lost": passage is not None and not any(one.kind == "passage" for one in stretches),
        "changed": library.changed(bench.workspace, doc),
        "away": _away(document, stretches, there),
        "asked": {name: value for name, value in request.query_params.items() if name in kept},
    }
    return render(request, "page.html.j2", bench, **context)


def picture(request: Request) -> Response:
    """A page as a picture. With the key that the page gave it can be kept by the browser."""
    bench = bench_of(request)
    found = _library(request).picture(bench.workspace, request.path_params["doc"], _number(request))
    if found is None or found.png is None:
        raise HTTPException(404)
    fresh = request.query_params.get("v") == found.key[:16]
    kept = "private, max-age=604800, immutable" if fresh else "no-store"
    return FileResponse(found.png, media_type="image/png", headers={"cache-control": kept})


def _library(request: Request) -> Library:
    library: Library = request.app.state.library
    return library


def _number(request: Request) -> int:
    """The page of the address. Raises HTTPException (404) where it is no number, or longer than any."""
    given: str = request.path_params["page"]
    if not (given.isdecimal() and len(given) < 10):
        raise HTTPException(404)
    return int(given)


def _passage(request: Request, index: Index | None) -> dict[str, Any] | None:
    named = request.query_params.get("passage")
    return index.passages([named]).get(named) if index is not None and named else None


def _query(request: Request, index: Index | None) -> dict[str, Any] | None:
    named = request.query_params.get("query")
    place = index.place_of(named) if index is not None and named else None
    return None if index is None or place is None else index.queries([place])[0]


def _stretches(
    request: Request, document: DocumentPages, passage: dict[str, Any] | None, query: dict[str, Any] | None
) -> list[Stretch]:
    found = [] if query is None else evidence_in(query["metadata"], document)
    if passage is not None and passage["metadata"].get("doc") == document.doc:
        own = stretch_of_passage(passage, document)
        return [*found, own] if own else found
    given = [request.query_params.get(name, "") for name in ("start", "end")]
    if all(one.isdecimal() and len(one) < 12 for one in given) and int(given[0]) < int(given[1]):
        found.append(Stretch("passage", int(given[0]), int(given[1])))
    return found


def _numbers(number: int, document: DocumentPages, stretches: Sequence[Stretch]) -> list[int]:
    """The page, and those right after it that a stretch on it runs on to."""
    numbers = [number]
    for one in stretches:
        pages = [piece.page for piece in document.pieces(one.start, one.end)]
        if one.kind == "passage" and number in pages:
            numbers += [page for page in pages if page > number]
    return sorted(set(numbers))[:AT_ONCE]


def _away(document: DocumentPages, stretches: Sequence[Stretch], shown: Sequence[int]) -> dict[str, list[int]]:
    """Of each kind the pages that it stands on and that are not shown."""
    found: dict[str, list[int]] = {}
    for one in stretches:
        for piece in document.pieces(one.start, one.end):
            if piece.page not in shown and piece.page not in found.setdefault(one.kind, []):
                found[one.kind].append(piece.page)
    return {kind: sorted(pages) for kind, pages in found.items() if pages}


def _sheet(library: Library, bench: Bench, document: DocumentPages, number: int, stretches: Sequence[Stretch]) -> Sheet:
    drawn, page = library.picture(bench.workspace, document.doc, number), document.page(number)
    pieces = [
        (one, piece) for one in stretches for piece in document.pieces(one.start, one.end) if piece.page == number
    ]
    aligned = (
        drawn.aligned(page.text) if drawn is not None and not drawn.error and page is not None and pieces else None
    )
    shown = [Shown(one, piece, aligned.placed(piece.start, piece.end) if aligned else None) for one, piece in pieces]
    return Sheet(number, drawn, None if page is None else page.text, shown)


def _labels(index: Index | None, passage: dict[str, Any] | None, query: dict[str, Any] | None) -> list[dict[str, Any]]:
    """What judges gave the passage for the query."""
    if index is None or passage is None or query is None:
        return []
    return [row for row in index.labels(query["place"]) if row["of"] != "answer" and row["subject"] == passage["id"]]


class DocumentPage(View):
    """A page of a document, and its picture."""

    name, title, order = "page", "", 22
    routes = (
        ("/page/{doc:path}/{page}", show, ["GET"]),
        ("/picture/{page}/{doc:path}", picture, ["GET"]),
    )
