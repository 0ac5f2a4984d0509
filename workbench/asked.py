"""What a request names: the results folder, its index, a query; each checked, or there is no such page."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from ragassay.text import one_line, safe_cell

from .bench import Bench
from .index.read import Index

LARGEST_FORM = 64_000
LONGEST_NAME = 60
PERSON = "ragassay-person"
"""The cookie with the name of who works here, percent-encoded."""


def bench_of(request: Request) -> Bench:
    """The folder of the address. Raises HTTPException (404)."""
    bench: Bench | None = request.app.state.benches.get(request.path_params["bench"])
    if bench is None:
        raise HTTPException(404)
    return bench


def index_of(request: Request) -> Index | None:
    """The index of the folder, or None while it is made."""
    found: Index | None = request.app.state.keeper.index(bench_of(request))
    return found


async def form_of(request: Request) -> dict[str, list[str]]:
    """Field to its values, of a form that htmx sends. Raises HTTPException: 413 for one that is too large, 400 for one
    whose end never came."""
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > LARGEST_FORM:
                raise HTTPException(413, "That is more than a form may have.")
    except ClientDisconnect:
        raise HTTPException(400, "The end of that did not come.") from None
    given: dict[str, list[str]] = {}
    for name, value in parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True):
        given.setdefault(name, []).append(value)
    return given


def person_of(request: Request) -> str:
    """Who works here, by the name that was given once in this browser; empty where none was. Untrusted text."""
    name = unquote(request.cookies.get(PERSON, ""))
    return name if why_no_name(name) is None else ""


def why_no_name(name: str) -> str | None:
    """Why somebody cannot be called that; None where they can."""
    if not name or name != name.strip():
        return "Say who you are: a name or initials."
    if len(name) > LONGEST_NAME:
        return f"A name has at most {LONGEST_NAME} characters."
    if one_line(name) != name or safe_cell(name) != name:
        return "A name has letters, digits and spaces, and begins with none of = + - @."
    return None
