"""What a request names: the results folder, its index, a query; each checked, or there is no such page."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request

from .bench import Bench
from .index.read import Index


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
