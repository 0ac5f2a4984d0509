"""Who may ask what: this machine alone unless a token is shown, writes from our own pages alone, no foreign content.

A page of another site can make a browser send requests to this machine. So the name in `Host` must be one that the
server was started for (a name that only resolves to this machine is refused: DNS rebinding), and a request that writes
must come from our origin and carry the token that only our pages hold.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
