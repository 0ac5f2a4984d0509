"""The application: every view's routes behind the guard, for the results folders that are served.

A page of another site can make a browser send requests to this machine. So the name in `Host` must be one that the
server was started for (a name that only resolves to this machine is refused: DNS rebinding), and a request that writes
must come from our origin and carry the token that only our pages hold.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragassay.errors import InputError
from ragassay.evaluate.report import TEMPLATES
from ragassay.text import one_line

from .aside import Ahead, Aside
from .asked import HERE, Bench, render, templates_of
from .index.build import Keeper
from .kept import Kept
from .pages.pictures import Library
from .views import views
from .views.progress import StatesOf

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
WRITE_HEADER = "x-ragassay-write"
COOKIE = "ragassay-token"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True)
class Access:
    """hosts: the names that the server answers to, None for any, which the token alone guards then. token: what must be
    shown to read, None on loopback. write: what our pages send with every request that changes something."""

    hosts: frozenset[str] | None = LOOPBACK
    token: str | None = None
    write: str = field(default_factory=lambda: secrets.token_urlsafe(32))


class Guard:
    """ASGI middleware that refuses what `access` does not allow and sets the headers of every response."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer itself, or hand on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = self._refusal(Request(scope))
        await (answer or self.app)(scope, receive, _with_headers(send))

    def _refusal(self, request: Request) -> Response | None:
        if self.access.hosts is not None and _host_of(request.headers) not in self.access.hosts:
            return PlainTextResponse("this server does not answer to that name\n", 421)
        if self.access.token is not None and (answer := self._unknown(request, self.access.token)):
            return answer
        if request.method not in _SAFE and not self._is_ours(request):
            return PlainTextResponse("this did not come from a page of ragassay; reload the page\n", 403)
        return None

    def _unknown(self, request: Request, token: str) -> Response | None:
        """What to say to who has not shown the token; the token leaves the address once it was shown."""
        if secrets.compare_digest(request.query_params.get("token", "").encode(), token.encode()):
            # two slashes at the front would be the name of another host
            place, query = (
                quote("/" + request.scope["path"].lstrip("/")),
                request.url.remove_query_params("token").query,
            )
            answer = RedirectResponse(place + (f"?{query}" if query else ""), 303)
            answer.set_cookie(COOKIE, token, httponly=True, samesite="strict")
            return answer
        if secrets.compare_digest(request.cookies.get(COOKIE, "").encode(), token.encode()):
            return None
        return PlainTextResponse("open the address that `ragassay serve` printed, with its token\n", 403)

    def _is_ours(self, request: Request) -> bool:
        origin = request.headers.get("origin")
        same = origin is None or urlsplit(origin).netloc == request.headers.get("host")
        site = request.headers.get("sec-fetch-site", "same-origin")
        given = request.headers.get(WRITE_HEADER, "")
        return same and site == "same-origin" and secrets.compare_digest(given.encode(), self.access.write.encode())


def _host_of(headers: Headers) -> str:
    """The name in `Host` without the port."""
    try:
        return urlsplit(f"//{headers.get('host', '')}").hostname or ""
    except ValueError:
        return ""


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return sending


def make_app(benches: Mapping[str, Bench], access: Access, states: StatesOf | None = None) -> Starlette:
    """The application that serves `benches` to whom `access` lets in. states: says how far a run is."""
    served = views()
    routes = [
        Route("/", _first),
        *(Route(f"/static/{name}", _report_css) for name in ("report.css", "screening.css")),
        Mount("/static", StaticFiles(directory=HERE / "static")),
        *(
            Route(f"/{{bench}}{path}", given, methods=list(methods))
            for view in served
            for path, given, methods in view.routes
        ),
    ]
    guard = [Middleware(Guard, access=access), Middleware(GZipMiddleware, minimum_size=2000)]
    handlers = {HTTPException: _not_there, InputError: _unusable, sqlite3.Error: _damaged, OSError: _unreadable}
    app = Starlette(routes=routes, middleware=guard, exception_handlers=handlers, lifespan=_lifespan)
    kept = Kept()
    app.state.menu = [(one.name, one.title) for one in served if one.title]
    app.state.templates = templates_of([one.templates for one in served if one.templates])
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
