"""The application: every view's routes behind the guard, for the results folders that are served; work that takes
seconds, in processes of its own; and how long a browser may take to send a request.

A page of another site can make a browser send requests to this machine. So the name in `Host` must be one that the
server was started for (a name that only resolves to this machine is refused: DNS rebinding), and a request that writes
must come from our origin and carry the token that only our pages hold.
"""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from threading import Event, Thread
from typing import Any
from urllib.parse import quote, urlsplit

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from ragassay.errors import InputError
from ragassay.evaluate.report import TEMPLATES
from ragassay.text import one_line

from .asked import HERE, Bench, NoIndexYet, render, templates_of, waiting
from .index.build import Apart, Keeper, Kept
from .moved import moved
from .pages.pictures import Library
from .runs import Runs, runs_table, told
from .views import views
from .views.progress import StatesOf
from .views.test_set import read_test_set

_LOOKS_AGAIN_S = 1.0

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
            place = quote("/" + request.scope["path"].lstrip("/"))
            query = request.url.remove_query_params("token").query
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


class Ahead:
    """A thread that reads the test sets, and what moved between each folder and the one that Compare sets beside it.

    All of it is kept where the views find it; a fault is left for the view to say.
    """

    def __init__(self, benches: Mapping[str, Bench], keeper: Keeper) -> None:
        self._benches, self._keeper, self._closed = list(benches.values()), keeper, Event()
        self._thread = Thread(target=self._work, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """Stop before the next part, and wait until that is so: indexes are closed after it."""
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        for bench in self._benches:
            with suppress(InputError, OSError, sqlite3.Error):
                found = read_test_set(bench.workspace)
                _ = found.bars, found.strips, found.reasons
        first, indexes = self._benches[0], []
        for bench in self._benches if len(self._benches) > 1 else ():
            while not (made := self._keeper.is_made(bench)) and not self._closed.wait(_LOOKS_AGAIN_S):
                pass  # asking for it would keep pages waiting
            indexes.append((bench, self._keeper.index(bench) if made else None))
        for bench, index in indexes:
            other = next((one for _, one in indexes[1:]), None) if bench is first else indexes[0][1]
            if index is not None and other is not None and not self._closed.is_set():
                with suppress(InputError, OSError, sqlite3.Error):
                    moved(index, other)


@dataclass(frozen=True)
class Told:
    """What there is of some work: the last value and the one before it, why the last came to nothing, what it was of.

    busy: whether newer work is under way.
    """

    value: Any = None
    before: Any = None
    error: str | None = None
    stamp: str | None = None
    busy: bool = False


class Aside:
    """Of each key one process at a time; what is asked for meanwhile is begun when that has ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._told: dict[str, Told] = {}
        self._works: dict[str, tuple[str, Apart]] = {}

    def told(self, key: str, stamp: str | None = None, work: Callable[..., Any] | None = None, *given: Any) -> Told:
        """What there is of `key`; begins `work(*given)` where what there is was not of `stamp`. Never waits.

        work: a module's function; it, its arguments and its result must pickle.
        """
        with self._lock:
            told = self._told.get(key, Told())
            if key in self._works and self._works[key][1].done:
                of, ended = self._works.pop(key)
                value, error = ended.result()
                told = Told(told.value, told.before, error, of) if error else Told(value, told.value, None, of)
                self._told[key] = told
            if work is not None and stamp is not None and key not in self._works and stamp != told.stamp:
                self._works[key] = stamp, Apart(work, *given)
            return replace(told, busy=key in self._works)

    def close(self) -> None:
        """End what is under way."""
        with self._lock:
            for _, one in self._works.values():
                one.end()
            self._works.clear()
            self._told.clear()


def make_app(benches: Mapping[str, Bench], access: Access, states: StatesOf | None = None) -> Starlette:
    """The application that serves `benches` to whom `access` lets in. states: says how far a run is."""
    served = views()
    routes = [
        Route("/", _first),
        Route("/runs", _runs),
        *(Route(f"/static/{name}", _report_css) for name in ("report.css", "screening.css")),
        Mount("/static", StaticFiles(directory=HERE / "static")),
        *(
            Route(f"/{{bench}}{path}", given, methods=list(methods))
            for view in served
            for path, given, methods in view.routes
        ),
    ]
    guard = [Middleware(Guard, access=access), Middleware(GZipMiddleware, minimum_size=2000)]
    handlers = dict.fromkeys((HTTPException, InputError, sqlite3.Error, OSError), _fault) | {NoIndexYet: waiting}
    app = Starlette(routes=routes, middleware=guard, exception_handlers=handlers, lifespan=_lifespan)
    kept = Kept()
    app.state.views = served
    app.state.templates = templates_of([one.templates for one in served if one.templates])
    app.state.benches, app.state.access, app.state.kept = Runs(benches), access, kept
    app.state.keeper, app.state.library = Keeper(kept), Library(kept)
    app.state.aside, app.state.states = Aside(), states
    return app


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    """The indexes are made from the start, and whoever makes them ends with the server."""
    served = app.state.benches.served
    for bench in served.values():
        app.state.keeper.begin(bench)
    ahead = Ahead(served, app.state.keeper)
    ahead.start()
    yield
    ahead.close()
    app.state.keeper.close()
    app.state.library.close()
    app.state.aside.close()
    app.state.kept.close()


def _first(request: Request) -> Response:
    """The one folder that is served, or the list of them."""
    served = request.app.state.benches.served
    return RedirectResponse(f"/{next(iter(served))}/decision") if len(served) == 1 else _runs(request)


def _runs(request: Request) -> Response:
    """Every run there is, and two of them to be compared."""
    runs = request.app.state.benches
    there = runs.there()
    whole = [one for one in there if not told(one).error]
    given = {"runs": runs_table(there), "whole": whole, "told": told, "parents": runs.parents}
    return render(request, "runs.html.j2", **given)


def _report_css(request: Request) -> Response:
    return FileResponse(TEMPLATES / request.url.path.rpartition("/")[2], media_type="text/css")


def _fault(request: Request, error: Exception) -> Response:
    """What went wrong, in a sentence. A file that cannot be used is said as the command line would say it; an index
    that cannot be read is thrown away, so that the next request has it made again.
    """
    status, said = 500, str(error)
    if isinstance(error, HTTPException):
        status, said = error.status_code, "There is no such page." if error.status_code == 404 else error.detail
    elif isinstance(error, sqlite3.Error):
        bench = request.app.state.benches.get(request.path_params.get("bench", ""))
        if bench is not None and not isinstance(error, sqlite3.ProgrammingError):
            request.app.state.keeper.throw_away(bench)
        status, said = 503, "The index could not be read and is made again. Reload the page in a moment."
    elif isinstance(error, OSError):  # a file that is gone, or that may not be read, between two looks at it
        said = one_line(f"{error.filename or 'A file'} cannot be read: {error.strerror or error}. Reload the page.")
    return render(request, "said.html.j2", status=status, said=said)


SECONDS = 15.0
"""From when a connection is there, or a request begins, until its last byte has come."""

MOST = 256
"""Connections at once. Where one more comes, that which is owed a request for longest is ended."""

LARGEST_HEADER = 32_768
"""Bytes of a request's line and header."""


def server_of(app: ASGIApp, *, seconds: float = SECONDS, most: int = MOST) -> uvicorn.Server:
    """The server of `app`, with these limits; it says nothing but warnings."""

    limited = type("Limited", (_Connection,), {"seconds": seconds, "most": most})
    # uvicorn's own configuration of logging closes the handlers of everybody else.
    quiet: dict[str, Any] = {"log_config": None, "log_level": "warning", "server_header": False, "access_log": False}
    return uvicorn.Server(
        uvicorn.Config(app, http=limited, ws="none", h11_max_incomplete_event_size=LARGEST_HEADER, **quiet)
    )


class _Connection(H11Protocol):
    """uvicorn's, ended when a request is not whole in time. due: when it will be; None while nothing is owed.

    uvicorn ends a connection that is idle between two requests. One that never sends its first, or sends a header or a
    body byte by byte, it waits for as long as it lives.
    """

    seconds = SECONDS
    most = MOST
    due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._owed()
        if len(self.connections) > self.most:
            waiting = [one for one in self.connections if isinstance(one, _Connection) and one.due is not None]
            min(waiting, key=lambda one: one.due.when() if one.due else 0.0)._end()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._owed()
        else:
            self._given()

    def connection_lost(self, exc: Exception | None) -> None:
        self._given()
        super().connection_lost(exc)

    def _owed(self) -> None:
        self.due = self.due or self.loop.call_later(self.seconds, self._end)

    def _given(self) -> None:
        if self.due is not None:
            self.due.cancel()
            self.due = None

    def _end(self) -> None:
        self._given()
        self.transport.abort()
