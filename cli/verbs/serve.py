"""`ragassay serve [CORPUS…]`: the workbench in a browser."""

from __future__ import annotations

import argparse
import copy
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.errors import InputError
from ragassay.experiment.stage import Stage
from ragassay.experiment.workspace import Workspace
from ragassay.files import digest_file
from ragassay.text import plain
from ragassay.workbench.views.progress import StageState

from ..pipeline.manifest import Manifest, Standing, inputs_of, read_broken_off, read_manifest, read_standing, why_stale
from ..pipeline.opening import with_finalists
from ..pipeline.stages import stages_of
from ..terminal import folder_of


def states_of(workspace: Workspace) -> tuple[StageState, ...]:
    """One a stage, in their order. Files whose size and time are as they were are not read again."""
    with suppress(InputError):
        workspace = with_finalists(workspace)
    now, then = read_standing(workspace), read_broken_off(workspace)
    return tuple(_state(stage, workspace, now, then) for stage in stages_of(workspace.experiment))


def _state(stage: Stage, workspace: Workspace, now: Standing | None, then: Standing | None) -> StageState:
    if now is not None and now.stage == stage.name:
        return _at_work(StageState(stage.name, "running"), now)
    found = _at_rest(stage, workspace)
    if then is not None and then.stage == stage.name and found.state != "done":
        return replace(_at_work(found, then), broken_off=True, left_s=None)
    return found


def _at_rest(stage: Stage, workspace: Workspace) -> StageState:
    known = read_manifest(workspace, stage)
    if known is None:
        return StageState(stage.name, "missing", "not run yet")
    why = _why(stage, workspace, known)
    return StageState(
        stage.name,
        "stale" if why else "done",
        why or "",
        n_records=known.n_records,
        n_failed=known.n_failed,
        notices=known.notices,
        usage=known.usage,
    )


def _at_work(state: StageState, now: Standing) -> StageState:
    return replace(
        state,
        what=now.what,
        n_done=now.done + now.cached,
        n_cached=now.cached,
        n_lost=now.failed,
        n_total=now.total,
        left_s=now.left_s,
        spent_usd=now.spent_usd,
        errors=now.errors,
    )


def _why(stage: Stage, workspace: Workspace, known: Manifest) -> str | None:
    """Why the stage would run; None where it is up to date."""
    try:
        return why_stale(known, stage, workspace, inputs_of(stage, workspace, _digest_kept), _digest_kept)
    except (InputError, OSError) as error:
        return str(error)


def _digest_kept(path: Path) -> str:
    there = path.stat()
    return _digest_of(path, there.st_size, there.st_mtime_ns)


@lru_cache(maxsize=4096)
def _digest_of(path: Path, size: int, time: int) -> str:
    del size, time
    return digest_file(path)


if TYPE_CHECKING:
    from ragassay.workbench.app import Access

PORT = 8765
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
"""Addresses that mean every one of this machine, each with the one that is printed for it."""


def add_serve(verb: argparse.ArgumentParser) -> None:
    """Its options."""
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

    from ragassay.workbench.app import make_app, server_of
    from ragassay.workbench.asked import benches_of

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
    from ragassay.workbench.app import LOOPBACK, Access

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
