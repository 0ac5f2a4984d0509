"""A page of a document, with a passage and a query's evidence shown where they stand on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from ..asked import Bench, bench_of, render
from ..index.read import Index
from ..pages.pictures import Library, Picture, Placed
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
        parts = []
        for start, end in pairwise(cuts):
            kinds = {one.stretch.kind for one in self.shown if one.piece.start <= start and end <= one.piece.end}
            parts.append((text[start:end], " ".join(sorted(kinds))))
        return parts


def show(request: Request) -> Response:
    """The page, and those after it that the passage runs on to."""
    bench, params = bench_of(request), request.query_params
    index: Index | None = request.app.state.keeper.index(bench)  # without one the page alone is shown
    library: Library = request.app.state.library
    doc, number = request.path_params["doc"], _number(request)
    document = library.document(bench.workspace, doc)
    if document is None:
        raise HTTPException(404)
    passage, query, labels = None, None, list[dict[str, Any]]()
    if index is not None:
        passage = index.passages([params.get("passage", "")]).get(params.get("passage", ""))
        place = index.place_of(params.get("query", ""))
        query = None if place is None else index.queries([place])[0]
        if passage is not None and place is not None:
            given = index.labels(place)
            labels = [row for row in given if row["of"] != "answer" and row["subject"] == passage["id"]]
    stretches = _stretches(params, document, passage, query)
    pictured = library.picture(bench.workspace, doc, number)
    if document.page(number) is None and (pictured is None or pictured.error):
        raise HTTPException(404)
    on: dict[str, set[int]] = {}  # of each kind the pages that it stands on
    numbers = {number}  # the page, and those right after it that a passage on it runs on to
    for one in stretches:
        pages = {piece.page for piece in document.pieces(one.start, one.end)}
        on.setdefault(one.kind, set()).update(pages)
        if one.kind == "passage" and number in pages:
            numbers |= {page for page in pages if page > number}
    there = sorted(numbers)[:AT_ONCE]
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
        "labels": labels,
        "lost": passage is not None and not any(one.kind == "passage" for one in stretches),
        "changed": library.changed(bench.workspace, doc),
        "away": {kind: sorted(pages - set(there)) for kind, pages in on.items() if pages - set(there)},
        "asked": {name: value for name, value in params.items() if name in kept},
    }
    return render(request, "page.html.j2", bench, **context)


def picture(request: Request) -> Response:
    """A page as a picture. With the key that the page gave it can be kept by the browser."""
    bench = bench_of(request)
    found = request.app.state.library.picture(bench.workspace, request.path_params["doc"], _number(request))
    if found is None or found.png is None:
        raise HTTPException(404)
    fresh = request.query_params.get("v") == found.key[:16]
    kept = "private, max-age=604800, immutable" if fresh else "no-store"
    return FileResponse(found.png, media_type="image/png", headers={"cache-control": kept})


def _number(request: Request) -> int:
    """The page of the address. Raises HTTPException (404) where it is no number, or longer than any."""
    given: str = request.path_params["page"]
    if not (given.isdecimal() and len(given) < 10):
        raise HTTPException(404)
    return int(given)


def _stretches(
    params: Mapping[str, str], document: DocumentPages, passage: dict[str, Any] | None, query: dict[str, Any] | None
) -> list[Stretch]:
    found = [] if query is None else evidence_in(query["metadata"], document)
    if passage is not None and passage["metadata"].get("doc") == document.doc:
        own = stretch_of_passage(passage, document)
        return [*found, own] if own else found
    given = [params.get(name, "") for name in ("start", "end")]
    if all(one.isdecimal() and len(one) < 12 for one in given) and int(given[0]) < int(given[1]):
        found.append(Stretch("passage", int(given[0]), int(given[1])))
    return found


def _sheet(library: Library, bench: Bench, document: DocumentPages, number: int, stretches: Sequence[Stretch]) -> Sheet:
    drawn, page = library.picture(bench.workspace, document.doc, number), document.page(number)
    every = ((one, piece) for one in stretches for piece in document.pieces(one.start, one.end))
    pieces = [(one, piece) for one, piece in every if piece.page == number]
    aligned = None
    if drawn is not None and not drawn.error and page is not None and pieces:
        aligned = drawn.aligned(page.text)
    shown = [Shown(one, piece, aligned.placed(piece.start, piece.end) if aligned else None) for one, piece in pieces]
    return Sheet(number, drawn, None if page is None else page.text, shown)


class DocumentPage(View):
    """A page of a document, and its picture."""

    name, title, order = "page", "", 22
    routes = (("/page/{doc:path}/{page}", show, ["GET"]), ("/picture/{page}/{doc:path}", picture, ["GET"]))
