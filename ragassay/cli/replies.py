"""`ragassay replies FILE CORPUS`: take replies in, after checking every line and whose request it answers."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from ragassay.cli.open_experiment import locked, open_workspace
from ragassay.errors import InputError
from ragassay.files import read_objects, write_bytes
from ragassay.reply_cache import Stored, read_replies
from ragassay.workspace import Workspace


def take(options: argparse.Namespace) -> int:
    """Check FILE and put it among the results' replies; status 2, and nothing taken, where a line is not a reply."""
    workspace = open_workspace(options)
    source: Path = options.file
    if not source.is_file():
        raise InputError("there is no such file", file=source)
    replies: dict[str, Stored] = dict(read_replies(source))
    if not replies:
        raise InputError("holds no reply", file=source)
    waiting = _waiting(workspace)
    with locked(workspace):
        write_bytes(workspace.replies / _name(source), source.read_bytes())
    unknown = len(replies.keys() - waiting)
    failed = sum(stored.body is None for stored in replies.values())
    print(
        f"{len(replies)} replies taken in ({failed} report an error, {unknown} answer no request that is waiting); "
        f"{len(waiting - replies.keys())} requests still wait"
    )
    return 0


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
