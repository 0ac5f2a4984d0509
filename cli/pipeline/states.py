"""The state of every stage, from its manifest and the files it was made from, as `ragassay run` would find it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from ragassay.digests import digest_file
from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.workbench.run_state import StageState

from .manifest import Manifest, digests, read_manifest, why_run
from .opening import with_finalists
from .stages import Stage, stages_of
from .standing import Standing, read_broken_off, read_standing


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
    known = read_manifest(workspace.manifests / f"{stage.name}.json")
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
    root = workspace.results
    try:
        inputs = digests([*stage.needs(workspace), *stage.uses(workspace)], root, _digest_kept)
        made = digests(stage.makes(workspace), root, _digest_kept)
        return why_run(known, inputs, stage.settings(workspace.experiment), made)
    except (InputError, OSError) as error:
        return str(error)


def _digest_kept(path: Path) -> str:
    there = path.stat()
    return _digest_of(path, there.st_size, there.st_mtime_ns)


@lru_cache(maxsize=4096)
def _digest_of(path: Path, size: int, time: int) -> str:
    del size, time
    return digest_file(path)
