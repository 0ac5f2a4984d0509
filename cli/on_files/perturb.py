"""`ragassay perturb`: a test set with its questions asked again in changed words."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ragassay.errors import InputError
from ragassay.text import plain

from ..options import Verbs, add_verb, path_of

if TYPE_CHECKING:
    from pathlib import Path

    from ragassay.experiment.workspace import Workspace
    from ragassay.records import Query
    from ragassay.synth.perturbing.perturb import Perturbed, Synonyms


def add(verbs: Verbs) -> None:
    """The verb and its options."""
    help_text = "ask a test set again with typing errors, other word order, synonyms, other case, or paraphrased"
    verb = add_verb(verbs, "perturb", help_text, run)
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
    verb.add_argument("--model", metavar="MODEL", help="of paraphrases, such as openai:gpt-4o")
    verb.add_argument("--base-url", metavar="URL", help="the address of --model, if not its provider's")
    verb.add_argument("--max-cost", type=float, metavar="USD", help="stop before paraphrases cost more (default: 20)")
    verb.add_argument("--work", type=path_of, metavar="DIR", help="requests and replies (default: OUT.work)")


def run(options: argparse.Namespace) -> int:
    """Write --out, and say how many of each kind there are."""
    from ragassay.files import write_records
    from ragassay.synth.perturbing.perturb import check_kinds, perturb, read_synonyms
    from ragassay.synth.questions.own import read_own_queries

    kinds = check_kinds([name.strip() for name in options.kinds.split(",") if name.strip()])
    source: Path = options.queries / "queries.jsonl" if options.queries.is_dir() else options.queries
    if options.out.exists() and source.exists() and options.out.resolve() == source.resolve():
        raise InputError("--out is the file that is read", file=options.out, remedy="name another one")
    table = read_synonyms(options.synonyms) if options.synonyms else None
    queries = read_own_queries(source)
    if "paraphrase" in kinds and options.model:
        made = _with_a_model(queries, kinds, table, options)
    else:
        made = perturb(queries, kinds, options.seed, table)
    write_records(options.out, made.queries)
    _print(made, kinds, options)
    return 0


def _with_a_model(
    queries: list[Query], kinds: tuple[str, ...], table: Synonyms | None, options: argparse.Namespace
) -> Perturbed:
    from ragassay.calls.caller import Caller
    from ragassay.calls.reply_cache import ReplyCache
    from ragassay.progress import StderrProgress
    from ragassay.synth.perturbing.perturb import perturb

    from ..pipeline.opening import locked

    workspace = _workspace(options)
    with locked(workspace):
        caller = Caller(workspace, "perturb", ReplyCache(workspace.replies), StderrProgress())
        try:
            return perturb(queries, kinds, options.seed, table, caller, options.model)
        finally:
            caller.close()


def _workspace(options: argparse.Namespace) -> Workspace:
    from .evaluators import files_workspace

    options.config, options.with_, options.mode = None, "", None
    return files_workspace(options)


def _print(made: Perturbed, kinds: tuple[str, ...], options: argparse.Namespace) -> None:
    n = sum("perturbed_from" not in query.metadata for query in made.queries)
    for kind in kinds:
        if there_not := made.unchanged[kind]:
            print(f"note: {kind}: {there_not} of {n} questions hold nothing to change", file=sys.stderr)
        if failed := made.failed[kind]:
            told = plain(made.errors[0])
            print(f"note: {kind}: {failed} of {n} questions have none, the first since {told}", file=sys.stderr)
    print(f"{options.out}: {n} questions and {len(made.queries) - n} perturbed ones")
