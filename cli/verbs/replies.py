"""`ragassay replies FILE CORPUS`: take replies in, after checking every line and whose request it answers."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.errors import InputError

from ..options import Verbs, add_corpus, add_verb, path_of

if TYPE_CHECKING:
    from ragassay.calls.reply_cache import Stored
    from ragassay.experiment.workspace import Workspace


def add_replies(verbs: Verbs) -> None:
    """The verb and its options."""
    help_text = "take in replies to a file: model's requests (OpenAI's Batch output)"
    verb = add_verb(verbs, "replies", help_text, run_replies)
    verb.add_argument("file", type=path_of, metavar="FILE", help="replies, .jsonl or .jsonl.gz")
    add_corpus(verb)


def run_replies(options: argparse.Namespace) -> int:
    """Check FILE and put it among the results' replies; status 2, and nothing taken, where a line is not a reply."""
    from ragassay.calls.reply_cache import read_replies

    from ..pipeline.opening import locked, open_workspace

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
    from ragassay.digests import digest_file
    from ragassay.files import write_bytes

    taken = sorted(folder.glob("taken-[0-9][0-9][0-9][0-9]-*"))
    if any(digest_file(path) == digest_file(source) for path in taken):
        return
    number = 1 + max((int(path.name.split("-")[1]) for path in taken), default=0)
    write_bytes(folder / f"taken-{number:04d}-{_name(source)}", source.read_bytes())


def _name(source: Path) -> str:
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", source.name).lstrip(".-")
    return name if name.endswith((".jsonl", ".jsonl.gz")) else f"{name}.jsonl"


def _waiting(workspace: Workspace) -> set[str]:
    from ragassay.files import read_objects

    return {
        str(request["custom_id"])
        for path in sorted(workspace.requests.glob("*.jsonl"))
        for _, request in read_objects(path)
        if "custom_id" in request
    }
