"""`ragassay replies FILE CORPUS`: take replies in, after checking every line and whose request it answers."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from ragassay.calls.reply_cache import Stored, read_replies
from ragassay.digests import digest_file
from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_objects, write_bytes

from ..pipeline.opening import locked, open_workspace


def take(options: argparse.Namespace) -> int:
    """Check FILE and put it among the results' replies; status 2, and nothing taken, where a line is not a reply."""
    workspace = open_workspace(options)
    source: Path = options.file
    if not source.is_file():
        raise InputError("there is no such file", file=source)
    replies: dict[str, Stored] = dict(read_replies(source, whole=True))
    if not replies:
        raise InputError("holds no reply", file=source)
    waiting = _waiting(workspace)
    with locked(workspace):
        _keep(source, workspace.replies)
    unknown = len(replies.keys() - waiting)
    failed = sum(stored.body is None for stored in replies.values())
    print(
        f"{len(replies)} replies taken in ({failed} report an error, {unknown} answer no request that is waiting); "
        f"{len(waiting - replies.keys())} requests still wait"
    )
    return 0


def _keep(source: Path, folder: Path) -> None:
    """Put a copy beside what was taken in before, under a number of its own: no file of replies is ever replaced."""
    taken = sorted(folder.glob("taken-[0-9][0-9][0-9][0-9]-*"))
    if any(digest_file(path) == digest_file(source) for path in taken):
        return
    number = 1 + max((int(path.name.split("-")[1]) for path in taken), default=0)
    write_bytes(folder / f"taken-{number:04d}-{_name(source)}", source.read_bytes())


def _name(source: Path) -> str:
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", source.name).lstrip(".-")
    return name if name.endswith((".jsonl", ".jsonl.gz")) else f"{name}.jsonl"


def _waiting(workspace: Workspace) -> set[str]:
    return {
        str(request["custom_id"])
        for path in sorted(workspace.requests.glob("*.jsonl"))
        for _, request in read_objects(path)
        if "custom_id" in request
    }
