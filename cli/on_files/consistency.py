"""`ragassay consistency`: how far the answers of several runs to the same queries agree."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ragassay.errors import InputError
from ragassay.text import plain

from ..options import Verbs, add_corpus, add_json, add_verb, path_of
from ..printing import interval_of, print_json, print_whole, value_of

if TYPE_CHECKING:
    from ragassay.evaluate.figures.answer_consistency import Consistency


def add_consistency(verbs: Verbs) -> None:
    """The verb and its options."""
    help_text = "say how far the answers of several runs agree: BERTScore, ROUGE, and the spread of every measure"
    verb = add_verb(verbs, "consistency", help_text, run_consistency)
    add_corpus(verb, needed=False)
    verb.add_argument(
        "--answers", action="append", type=path_of, metavar="JSONL", help="instead of CORPUS: answers, a run a file"
    )
    verb.add_argument(
        "--embedding",
        default="all-MiniLM-L6-v2",
        metavar="MODEL",
        help="of BERTScore, with --answers; default: all-MiniLM-L6-v2",
    )
    add_json(verb)


def run_consistency(options: argparse.Namespace) -> int:
    """Print the spread of every measure over CORPUS's runs, or over those in --answers."""
    found = _found(options)
    if options.json:
        print_json(found.dump())
        return 0
    _print(found)
    return 0


def _found(options: argparse.Namespace) -> Consistency:
    from ragassay.evaluate.from_files.consistency import of_experiment, of_files

    from ..pipeline.opening import locked, open_workspace

    if (options.corpus is None) == (not options.answers):
        raise InputError("needs CORPUS, or --answers once for each run", remedy="see `ragassay consistency --help`")
    if options.answers:
        return of_files(options.answers, options.embedding)
    workspace = open_workspace(options)
    with locked(workspace):
        return of_experiment(workspace)


def _print(found: Consistency) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table("agent", "measure", "mean", "95% interval", "variance", "cv", "n", "undefined", "failed values")
    for agent, measures in found.agents.items():
        for measure, spread in measures.items():
            mean, failed = spread.mean, f"{spread.n_values_failed} of {spread.n_values + spread.n_values_failed}"
            spreads = [value_of(spread.variance, ".4g"), value_of(spread.cv, ".4g")]
            numbers = [value_of(mean, ".4g"), interval_of(mean, ".3f"), *spreads]
            table.add_row(Text(plain(agent)), measure, *numbers, str(mean.n), str(mean.n_failed), failed)
    print_whole(table)
    print(f"{found.n_runs} runs; BERTScore by {plain(found.embedding)}; variance and cv are within queries")
