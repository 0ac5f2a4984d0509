"""`ragassay serve [CORPUS…]`: the workbench in a browser."""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ragassay.errors import InputError
from ragassay.experiment.stage import Stage
from ragassay.experiment.workspace import Workspace
from ragassay.text import plain
from ragassay.workbench.index.build import digest_kept
from ragassay.workbench.views.progress import StageState

from ..pipeline.manifest import inputs_of, read_broken_off, read_manifest, read_standing, why_stale
from ..pipeline.opening import with_finalists
from ..pipeline.stages import stages_of
from ..terminal import add, folder_of


def states_of(workspace: Workspace) -> tuple[StageState, ...]:
    """One a stage, in their order. Files whose size and time are as they were are not read again."""
    with suppress(InputError):
        workspace = with_finalists(workspace)
    now, then = read_standing(workspace), read_broken_off(workspace)
    found = []
    for stage in stages_of(workspace.experiment):
        if now is not None and now.stage == stage.name:
            found.append(StageState(stage.name, "running", at_work=now))
            continue
        state = _at_rest(stage, workspace)
        if then is not None and then.stage == stage.name and state.state != "done":
            state = replace(state, at_work=then)
        found.append(state)
    return tuple(found)


def _at_rest(stage: Stage, workspace: Workspace) -> StageState:
    known = read_manifest(workspace, stage)
    if known is None:
        return StageState(stage.name, "missing", "not run yet")
    try:
        why = why_stale(known, stage, workspace, inputs_of(stage, workspace, digest_kept), digest_kept)
    except (InputError, OSError) as error:
        why = str(error)
    return StageState(
        stage.name,
        "stale" if why else "done",
        why or "",
        n_records=known.n_records,
        n_failed=known.n_failed,
        notices=known.notices,
        usage=known.usage,
    )


PORT = 8765
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
"""Addresses that mean every one of this machine, each with the one that is printed for it."""


def add_serve(verb: argparse.ArgumentParser) -> None:
    add(verb, "corpora CORPUS", "corpus folders (default: those that have results)", nargs="*")
    add(verb, "--results DIR", "the results of each CORPUS, in turn", action="append", default=[])
    add(verb, "--port", f"default: {PORT}; 0 takes a free one", type=int, default=PORT)
    add(verb, "--host", "another address asks for a token (default: 127.0.0.1)", default="127.0.0.1")


def run_serve(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C: at the first what is asked is answered, the second ends."""
    workspaces = _workspaces(options)
    import socket

    from ragassay.workbench.app import LOOPBACK, Access, make_app, server_of
    from ragassay.workbench.asked import benches_of

    access = Access()
    if options.host not in LOOPBACK:
        names = None if options.host in EVERYWHERE else LOOPBACK | {options.host.strip("[]").lower()}
        access = Access(names, secrets.token_urlsafe(24))
    listening = socket.socket(socket.AF_INET6 if ":" in options.host else socket.AF_INET)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((options.host, options.port))
        listening.listen()
    except (OSError, OverflowError) as error:
        problem = f"cannot listen on {plain(options.host)} port {options.port}: {plain(str(error))}"
        raise InputError(problem, remedy="give another --port") from None
    host = EVERYWHERE.get(options.host, options.host)
    name = f"[{host}]" if ":" in host else host
    shown = f"http://{name}:{listening.getsockname()[1]}/" + (f"?token={access.token}" if access.token else "")
    print(f"The workbench is at {shown} (Ctrl-C ends it)", flush=True)
    if options.host in EVERYWHERE:
        print(f"From elsewhere put this machine's name or address for {name}.", flush=True)
    server = server_of(make_app(benches_of(workspaces), access, states_of))

    def end(*_: object) -> None:
        server.should_exit, server.force_exit = True, server.should_exit

    server.handle_exit = end  # type: ignore[method-assign, assignment]
    server.run(sockets=[listening])
    return 0


def _workspaces(options: argparse.Namespace) -> Sequence[Workspace]:
    """Each corpus with its results, by default those of corpora/ that have some here. Raises InputError."""
    from ..pipeline.opening import open_workspace

    corpora = options.corpora
    if not corpora:
        folders = sorted(path.parent for path in Path("corpora").glob("*/experiment.toml"))
        corpora = [folder for folder in folders if (Path("results") / folder.name).is_dir()]
    if not corpora:
        raise InputError("there are no results here yet", remedy="`ragassay demo` makes some, or name a corpus folder")
    if len(options.results) > len(corpora):
        raise InputError("there are more --results than corpora", remedy="give one for each CORPUS, in the same order")
    given = [*map(folder_of, options.results), *[None] * (len(corpora) - len(options.results))]
    named = zip(corpora, given, strict=True)
    return [open_workspace(argparse.Namespace(corpus=folder_of(str(one)), results=results)) for one, results in named]
