"""`ragassay label-sheet CORPUS`: draw a sheet for people to label, or take a filled one into `labels.csv`."""

from __future__ import annotations

import argparse
import datetime
from typing import TYPE_CHECKING

from ragassay.errors import InputError
from ragassay.text import did_you_mean

from ..options import Verbs, add_corpus, add_verb, path_of
from ..printing import print_notes

if TYPE_CHECKING:
    from ragassay.experiment.workspace import Workspace


def add_label_sheet(verbs: Verbs) -> None:
    """The verb and its options."""
    help_text = "draw what people should label, blind to agent and judge, or take a filled sheet into labels.csv"
    verb = add_verb(verbs, "label-sheet", help_text, run_label_sheet)
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
    from ragassay.perturbed import left_out, originals
    from ragassay.records import Query

    queries = read_records(workspace.queries, Query)
    return left_out(len(queries) - len(originals(queries)))
