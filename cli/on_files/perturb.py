"""`ragassay perturb`: a test set with its questions asked again in changed words."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ragassay.errors import InputError
from ragassay.text import plain

from ..options import Verbs, add_verb, path_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ragassay.calls.caller import Caller
    from ragassay.experiment.workspace import Workspace
    from ragassay.synth.perturbing.perturb import Perturbed

    from ..pipeline.pace import Pace
    from ..pipeline.plan import Row

    Made = Callable[[Caller | None], Perturbed]


def add_perturb(verbs: Verbs) -> None:
    """The verb and its options."""
    help_text = "ask a test set again with typing errors, other word order, synonyms, other case, or paraphrased"
    verb = add_verb(verbs, "perturb", help_text, run_perturb)
    verb.add_argument("queries", type=path_of, metavar="QUERIES", help="BEIR's queries.jsonl, or a folder with one")
    verb.add_argument("--out", type=path_of, required=True, metavar="JSONL", help="originals and what is made of them")
    verb.add_argument(
        "--kinds",
        default="typos,word-order,case",
        metavar="KIND,KIND",
        help="typos, word-order, synonyms, case, paraphrase; default: typos,word-order,case",
    )
    verb.add_argument("--seed", type=int, default=7, metavar="N", help="of the draw; default: 7")
    verb.add_argument("--synonyms", type=path_of, metavar="CSV", help="of synonyms: lines of word,synonym,…")
    verb.add_argument(
        "--model", metavar="MODEL", help="of paraphrases, and synonyms without a table, such as openai:gpt-4o"
    )
    verb.add_argument("--base-url", metavar="URL", help="the address of --model, if not its provider's")
    verb.add_argument("--max-cost", type=float, metavar="USD", help="stop before the model costs more (default: 20)")
    verb.add_argument("--work", type=path_of, metavar="DIR", help="requests and replies (default: OUT.work)")
    verb.add_argument("--plan", action="store_true", help="say what the model would be asked, ask and write nothing")


def run_perturb(options: argparse.Namespace) -> int:
    """Write --out, and say how many of each kind there are; with --plan say what a model would be asked alone."""
    from ragassay.files import write_records
    from ragassay.synth.perturbing.perturb import asks_model, check_kinds, perturb, read_synonyms
    from ragassay.synth.questions.own import read_own_queries

    kinds = check_kinds([name.strip() for name in options.kinds.split(",") if name.strip()])
    source: Path = options.queries / "queries.jsonl" if options.queries.is_dir() else options.queries
    if options.out.exists() and source.exists() and options.out.resolve() == source.resolve():
        raise InputError("--out is the file that is read", file=options.out, remedy="name another one")
    table = read_synonyms(options.synonyms) if options.synonyms else None
    made = partial(perturb, read_own_queries(source), kinds, options.seed, table, model=options.model or "")
    asking = bool(options.model and asks_model(kinds, table))
    if options.plan:
        _print_plan(lambda caller: made(caller=caller), asking, options)
        return 0
    found = _with_a_model(lambda caller: made(caller=caller), options) if asking else made()
    write_records(options.out, found.queries)
    _print(found, kinds, options)
    return 0


def _print_plan(made: Made, asking: bool, options: argparse.Namespace) -> None:
    from ..pipeline.told_plan import print_plan

    if not asking:
        made(None)
        print("no model is asked")
        return
    workspace = _workspace(options)
    rows, pace = _counted(made, workspace)
    print_plan(rows, pace, workspace.experiment.run.max_cost_usd)


def _counted(made: Made, workspace: Workspace) -> tuple[list[Row], Pace]:
    from ragassay.calls.reply_cache import ReplyCache

    from ..pipeline.plan import counted

    return counted(workspace, "perturb", ReplyCache(workspace.replies), made)


def _with_a_model(made: Made, options: argparse.Namespace) -> Perturbed:
    from ragassay.calls.caller import Caller
    from ragassay.calls.reply_cache import ReplyCache
    from ragassay.progress import StderrProgress

    from ..pipeline.opening import locked

    workspace = _workspace(options)
    with locked(workspace):
        _say_what_is_asked(_counted(made, workspace)[0], workspace)
        caller = Caller(workspace, "perturb", ReplyCache(workspace.replies), StderrProgress())
        try:
            return made(caller)
        finally:
            caller.close()


def _say_what_is_asked(rows: Sequence[Row], workspace: Workspace) -> None:
    """In a sentence, before anything is paid; nothing where every reply is at hand."""
    from ..pipeline.told_plan import in_all

    for row in rows:
        if row.calls > row.from_cache:
            cached = f", {row.from_cache:,} of them in the cache" if row.from_cache else ""
            tokens = f"{row.input_tokens:,} tokens in and about {row.output_tokens:,} out"
            print(f"{plain(row.model)}: {row.calls:,} calls{cached}, {tokens}", file=sys.stderr)
            print(in_all([row], workspace.experiment.run.max_cost_usd), file=sys.stderr)


def _workspace(options: argparse.Namespace) -> Workspace:
    from .evaluators import files_workspace

    options.config, options.with_, options.mode = None, "", None
    return files_workspace(options)


def _print(made: Perturbed, kinds: tuple[str, ...], options: argparse.Namespace) -> None:
    from ragassay.perturbed import originals

    n = len(originals(made.queries))
    for kind in kinds:
        if there_not := made.unchanged[kind]:
            print(f"note: {kind}: {there_not} of {n} questions hold nothing to change", file=sys.stderr)
        if failed := made.failed[kind]:
            told = plain(made.errors[kind])
            print(f"note: {kind}: {failed} of {n} questions have none, the first since {told}", file=sys.stderr)
    print(f"{options.out}: {n} questions and {len(made.queries) - n} perturbed ones")
