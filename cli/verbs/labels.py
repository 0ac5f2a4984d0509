"""`ragassay replies` and `label-sheet`: what others answer is taken in, a model's replies and people's labels, after
every line is checked and whose request or item it answers.
"""

from __future__ import annotations

import argparse
import datetime
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.errors import InputError
from ragassay.text import did_you_mean

from ..terminal import add_corpus, path_of, print_notes

if TYPE_CHECKING:
    from ragassay.calls.reply_cache import Stored
    from ragassay.experiment.workspace import Workspace


def add_label_sheet(verb: argparse.ArgumentParser) -> None:
    """Its options."""
    add_corpus(verb)
    verb.add_argument("--n", type=int, default=100, metavar="N", help="about how many labels; default: 100")
    verb.add_argument("--seed", type=int, default=7, metavar="N", help="of the draw; default: 7")
    verb.add_argument("--out", type=path_of, metavar="CSV", help="the sheet (default: in CORPUS)")
    verb.add_argument(
        "--kind",
        action="append",
        choices=["passages", "answers", "games"],
        help="draw only these, may be repeated (passages come by whole queries, which MRR needs); default: all",
    )
    verb.add_argument("--criterion", action="append", metavar="NAME", help="of answers, may be repeated; default: all")
    verb.add_argument("--take", type=path_of, metavar="FILE", help="take the labels of a filled sheet into labels.csv")
    verb.add_argument("--who", metavar="NAME", help="with --take: who labelled it")


def run_label_sheet(options: argparse.Namespace) -> int:
    """Draw, or with --take take in."""
    from ..pipeline.opening import locked, open_workspace

    workspace = open_workspace(options)
    with locked(workspace):
        return _take(workspace, options) if options.take else _draw(workspace, options)


def _take(workspace: Workspace, options: argparse.Namespace) -> int:
    from ragassay.evaluate.human_labels.sheet import take_sheet

    who = (options.who or "").strip()
    if not who:
        raise InputError("--take needs --who", remedy="say who labelled the sheet, by name or initials")
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    n_labels, n_empty = take_sheet(workspace, options.take, who, today)
    left = f", {n_empty} left empty" if n_empty else ""
    print(f"{workspace.own_labels}: {n_labels} labels by {who}{left}; `ragassay run` now corrects with them")
    return 0


def _draw(workspace: Workspace, options: argparse.Namespace) -> int:
    from ragassay.evaluate.human_labels.frame import KINDS
    from ragassay.evaluate.human_labels.sheet import draw_into

    if options.n < 1:
        raise InputError(f"--n is {options.n}, it must be at least 1")
    judged = workspace.experiment.judge.criteria
    if unknown := [name for name in options.criterion or () if name not in judged]:
        raise InputError(
            f"'{unknown[0]}' is no criterion of this experiment",
            remedy=f"{did_you_mean(unknown[0], judged)}there are {', '.join(judged)}",
        )
    kinds, seed = options.kind or KINDS, options.seed
    out, n = draw_into(workspace, n=options.n, seed=seed, kinds=kinds, criteria=options.criterion, out=options.out)
    print_notes(_left_out(workspace))
    print(
        f"{out}: {n} things to label. Fill the column 'label', save as CSV, then "
        f"`ragassay label-sheet {options.corpus} --take FILE --who NAME`."
    )
    return 0


def _left_out(workspace: Workspace) -> list[str]:
    from ragassay.files import read_records
    from ragassay.records import Query, left_out, originals

    queries = read_records(workspace.queries, Query)
    return left_out(len(queries) - len(originals(queries)))


def add_replies(verb: argparse.ArgumentParser) -> None:
    """Its options."""
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
    from ragassay.files import digest_file, write_bytes

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
