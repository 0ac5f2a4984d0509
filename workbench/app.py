"""The application: every view's routes behind the guard, for the results folders that are served."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ragassay.errors import InputError
from ragassay.evaluate.report import TEMPLATES
from ragassay.text import one_line

from .ahead import Ahead
from .aside import Aside
from .bench import Bench
from .guard import Access, Guard
from .index.keeper import Keeper
from .kept import Kept
from .page import HERE, render
from .pages.library import Library
from .run_state import StatesOf
from .views import compare, decision, labels, page, progress, queries, query, test_set

VIEWS = (decision, queries, query, page, compare, labels, test_set, progress)
"""The modules whose `ROUTES` are served, below `/NAME/`."""


def make_app(benches: Mapping[str, Bench], access: Access, states: StatesOf | None = None) -> Starlette:
    """The application that serves `benches` to whom `access` lets in. states: says how far a run is."""
    routes = [
        Route("/", _first),
        *(Route(f"/static/{name}", _report_css) for name in ("report.css", "screening.css")),
        Mount("/static", StaticFiles(directory=HERE / "static")),
        *(
            Route(f"/{{bench}}{path}", endpoint, methods=methods)
            for view in VIEWS
            for path, endpoint, methods in view.ROUTES
        ),
    ]
    guard = [Middleware(Guard, access=access), Middleware(GZipMiddleware, minimum_size=2000)]
    handlers = {HTTPException: _not_there, InputError: _unusable, sqlite3.Error: _damaged, OSError: _unreadable}
    app = Starlette(routes=routes, middleware=guard, exception_handlers=handlers, lifespan=_lifespan)
    kept = Kept()
    app.state.benches, app.state.access, app.state.kept = dict(benches), access, kept
    app.state.keeper, app.state.library = Keeper(kept), Library(kept)
    app.state.aside, app.state.states = Aside(), states
    return app


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    """The indexes are made from the start, and whoever makes them ends with the server."""
    for bench in app.state.benches.values():
        app.state.keeper.begin(bench)
    ahead = Ahead(app.state.benches, app.state.keeper)
    ahead.start()
    yield
    ahead.close()
    app.state.keeper.close()
    app.state.library.close()
    app.state.aside.close()
    app.state.kept.close()


def _first(request: Request) -> Response:
    """The one folder there is, or the list of them."""
    benches = request.app.state.benches
    if len(benches) == 1:
        return RedirectResponse(f"/{next(iter(benches))}/decision")
    return render(request, "folders.html.j2")


def _report_css(request: Request) -> Response:
    return FileResponse(TEMPLATES / request.url.path.rpartition("/")[2], media_type="text/css")


async def _not_there(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    said = "There is no such page." if status == 404 else str(getattr(error, "detail", error))
    return render(request, "said.html.j2", status=status, said=said)


async def _damaged(request: Request, error: Exception) -> Response:
    """An index that cannot be read is thrown away, so that the next request has it made again."""
    bench = request.app.state.benches.get(request.path_params.get("bench", ""))
    if bench is not None and not isinstance(error, sqlite3.ProgrammingError):
        await run_in_threadpool(request.app.state.keeper.throw_away, bench)
    said = "The index could not be read and is made again. Reload the page in a moment."
    return render(request, "said.html.j2", status=503, said=said)


async def _unreadable(request: Request, error: Exception) -> Response:
    """A file that is gone, or that may not be read, between two looks at it."""
    assert isinstance(error, OSError)
    said = f"{error.filename or 'A file'} cannot be read: {error.strerror or error}. Reload the page."
    return render(request, "said.html.j2", status=500, said=one_line(said))


async def _unusable(request: Request, error: Exception) -> Response:
    """A file that cannot be used is said in the sentence that the command line would say."""
    return render(request, "said.html.j2", status=500, said=str(error))
