"""`ragassay judge` on files of anybody's: answers, with their passages and queries, and the evaluators named."""

from __future__ import annotations

import argparse
import sys

from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.errors import InputError
from ragassay.evaluate.figures.classes import classification_figures
from ragassay.evaluate.figures.evaluator_means import means
from ragassay.evaluate.from_files.answers import read_cases
from ragassay.evaluate.judging.catalog import experiment_evaluators
from ragassay.evaluate.judging.engine.evaluator import Evaluator
from ragassay.evaluate.judging.engine.rounds import assess
from ragassay.evaluate.judging.notices import by_criterion, failures, passed_over
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.files import write_records
from ragassay.progress import StderrProgress
from ragassay.records import Assessment
from ragassay.text import plain

from ..pipeline.opening import locked
from ..printing import interval_of, print_whole, value_of
from .evaluators import files_workspace


def judge_files(options: argparse.Namespace) -> int:
    """Write --out, and print the mean of each criterion."""
    workspace = files_workspace(options)
    evaluators = experiment_evaluators(workspace)
    if options.passages is None and (of_passages := [one.name for one in evaluators if one.unit == "passage"]):
        raise InputError("--passages is missing", remedy=f"{plain(of_passages[0])} judges passages: give their texts")
    cases = read_cases(options.answers, options.passages, options.queries)
    with locked(workspace):
        caller = Caller(workspace, "judge", ReplyCache(workspace.replies), StderrProgress())
        try:
            rows = assess(evaluators, cases, caller)
        finally:
            caller.close()
        write_records(options.out, rows)
    for notice in [*passed_over(evaluators, cases), *failures(by_criterion(rows))]:
        print(f"note: {plain(notice)}", file=sys.stderr)
    _print_means(rows, evaluators)
    _print_classes(rows)
    print(f"{options.out}: {len(rows)} judgments")
    return 0


def _print_means(rows: list[Assessment], evaluators: list[Evaluator]) -> None:
    """The mean of each criterion for each agent, or over all passages, with its interval over queries."""
    from rich.table import Table
    from rich.text import Text

    table = Table("criterion", "of", "mean", "95% interval", "n", "failed")
    for criterion, subject, figure in means(rows, evaluators):
        shown = value_of(figure, ".3f"), interval_of(figure, ".3f"), str(figure.n), str(figure.n_failed)
        table.add_row(criterion, Text(plain(subject)), *shown)
    print_whole(table, "no criterion has a mean: nothing was judged")


def _print_classes(rows: list[Assessment]) -> None:
    """Accuracy, precision, recall and F1 of each agent and class, where answers were judged as classes."""
    from rich.table import Table
    from rich.text import Text

    found = classification_figures(rows, resamples([row.query_id for row in rows], 1, 0))
    table = Table("classification", "of", "value", "95% interval", "n", "failed")
    for agent, figures in found.items():
        for name, figure in figures.items():
            shown = value_of(figure, ".3f"), interval_of(figure, ".3f"), str(figure.n), str(figure.n_failed)
            table.add_row(Text(plain(name)), Text(plain(agent)), *shown)
    if found:
        print_whole(table, "")
