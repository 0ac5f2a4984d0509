"""`ragassay serve [CORPUS…]`: the workbench in a browser."""

from __future__ import annotations

import argparse
import copy
import secrets
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.errors import InputError
from ragassay.text import plain

from ..options import Verbs, add_verb, folder_of

if TYPE_CHECKING:
    from ragassay.experiment.workspace import Workspace
    from ragassay.workbench.guard import Access

PORT = 8765
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
"""Addresses that mean every one of this machine, each with the one that is printed for it."""


def add_serve(verbs: Verbs) -> None:
    """The verb and its options."""
    verb = add_verb(verbs, "serve", "look at results in a browser: why who won, every query, and labels", run_serve)
    verb.add_argument("corpora", nargs="*", metavar="CORPUS", help="corpus folders (default: those that have results)")
    verb.add_argument(
        "--results", action="append", default=[], metavar="DIR", help="the results of each CORPUS, in turn"
    )
    verb.add_argument("--port", type=int, default=PORT, help=f"default: {PORT}; 0 takes a free one")
    verb.add_argument("--host", default="127.0.0.1", help="another address asks for a token (default: 127.0.0.1)")


def run_serve(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    workspaces = _workspaces(options)
    import socket

    from ragassay.workbench.app import make_app
    from ragassay.workbench.bench import benches_of
    from ragassay.workbench.connections import server_of

    from ..pipeline.states import states_of

    access = _access(options.host)
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((options.host, options.port))
        listening.listen()
    except (OSError, OverflowError) as error:
        problem = f"cannot listen on {plain(options.host)} port {options.port}: {plain(str(error))}"
        raise InputError(problem, remedy="give another --port") from None
    anywhere = options.host in EVERYWHERE
    host = EVERYWHERE.get(options.host, options.host)
    name = f"[{host}]" if ":" in host else host
    shown = f"http://{name}:{listening.getsockname()[1]}/" + (f"?token={access.token}" if access.token else "")
    print(f"The workbench is at {shown} (Ctrl-C ends it)", flush=True)
    if anywhere:
        print(f"From elsewhere put this machine's name or address for {name}.", flush=True)
    server = server_of(make_app(benches_of(workspaces), access, states_of))
    server.handle_exit = partial(_end, server)  # type: ignore[method-assign]
    server.run(sockets=[listening])
    return 0


def _end(server: Any, *_: object) -> None:
    """At the first Ctrl-C answer what is asked, at the second end."""
    server.should_exit, server.force_exit = True, server.should_exit


def _access(host: str) -> Access:
    from ragassay.workbench.guard import LOOPBACK, Access

    if host in LOOPBACK:
        return Access()
    names = None if host in EVERYWHERE else LOOPBACK | {host.strip("[]").lower()}
    return Access(names, secrets.token_urlsafe(24))


def _workspaces(options: argparse.Namespace) -> Sequence[Workspace]:
    """Each corpus with its results. Raises InputError."""
    from ..pipeline.opening import open_workspace

    corpora = options.corpora or _with_results()
    if len(options.results) > len(corpora):
        raise InputError("there are more --results than corpora", remedy="give one for each CORPUS, in the same order")
    found = []
    for number, corpus in enumerate(corpora):
        one = copy.copy(options)
        one.corpus = folder_of(str(corpus))
        one.results = folder_of(options.results[number]) if number < len(options.results) else None
        found.append(open_workspace(one))
    return found


def _with_results() -> list[Path]:
    """The folders of corpora/ that have results here. Raises InputError where there are none."""
    folders = sorted(path.parent for path in Path("corpora").glob("*/experiment.toml"))
    there = [folder for folder in folders if (Path("results") / folder.name).is_dir()]
    if not there:
        raise InputError("there are no results here yet", remedy="`ragassay demo` makes some, or name a corpus folder")
    return there
