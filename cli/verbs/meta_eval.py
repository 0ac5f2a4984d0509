"""`ragassay meta-eval`: an evaluator against people's labels."""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.records import Figure
from ragassay.text import plain

if TYPE_CHECKING:
    from ragassay.evaluate.agreement.labelled_sets import LabelledSet
    from ragassay.evaluate.agreement.meta_eval import CrossTable, MetaEvaluation
    from ragassay.evaluate.judging.engine.evaluator import Evaluator
    from ragassay.records import Assessment

_DEFAULT_WORK = Path("results") / "meta-eval"


def meta_eval(options: argparse.Namespace) -> int:
    """Judge the labelled rows, or what is drawn of them, and print how well."""
    from ragassay.evaluate.agreement.labelled_sets import sample
    from ragassay.evaluate.agreement.meta_eval import (
        check_fits,
        criterion_of,
        meta_evaluate,
        relevant_labels,
        threshold_of,
    )
    from ragassay.files import write_records

    _check(options)
    labelled = _labelled(options)
    relevant = relevant_labels(labelled, options.relevant)
    labelled = sample(labelled, options.n, options.seed, relevant.labels if options.balance else None)
    workspace, evaluator = _evaluator(options, labelled)
    check_fits(evaluator, labelled)
    threshold_of(criterion_of(evaluator, options.criterion), options.binary_at)
    judged = _judged(workspace, evaluator, labelled)
    if options.out:
        write_records(options.out, judged)
    found = meta_evaluate(
        evaluator,
        labelled,
        judged,
        relevant,
        criterion=options.criterion,
        threshold=options.binary_at,
        bootstrap=options.bootstrap,
        seed=options.seed,
    )
    if options.json:
        print(json.dumps(found.dump(), indent=1, ensure_ascii=False, allow_nan=False))
    else:
        _print(found)
    return 0


def _check(options: argparse.Namespace) -> None:
    for name, least in (("bootstrap", 100), ("seed", 0), ("depth", 1)):
        if getattr(options, name) < least:
            raise InputError(f"--{name} is {getattr(options, name)}, it must be at least {least}")
    if options.n is not None and options.n < 2:
        raise InputError(f"--n is {options.n}, it must be at least 2")
    if options.balance and options.n is None:
        raise InputError("--balance goes with --n", remedy="say how many rows to draw")
    if "," in options.judge:
        raise InputError("--judge names more than one", remedy="hold one evaluator at a time against the labels")


def _labelled(options: argparse.Namespace) -> LabelledSet:
    """The set: qrels where a corpus is given, else rows."""
    from ragassay.evaluate.agreement.labelled_sets import read_relevance, read_rows

    if options.passages is None and options.queries is None and options.negatives is None:
        return read_rows(options.labelled, options.kind, seed=options.seed)
    if options.kind not in {None, "relevance"}:
        raise InputError(f"--kind {options.kind} goes without --passages, --queries and --negatives")
    if options.passages is None or options.queries is None:
        raise InputError("qrels need both --passages and --queries")
    return read_relevance(
        options.labelled, options.passages, options.queries, negatives=options.negatives, depth=options.depth
    )


def _evaluator(options: argparse.Namespace, labelled: LabelledSet) -> tuple[Workspace, Evaluator]:
    """The evaluator with its settings and the workspace it asks in; what is one claim is not split into claims."""
    from ragassay.evaluate.judging.catalog import experiment_evaluators

    from .judge import files_workspace

    options.with_ = options.judge
    options.work = options.work or (None if options.out else _DEFAULT_WORK)
    base = files_workspace(options)
    given = dict(map(_setting, options.set))
    workspace = _with(base, options.judge, given)
    (evaluator,) = _one(experiment_evaluators(workspace), options.judge)
    if labelled.kind == "claims" and "split" in type(evaluator.options).model_fields and "split" not in given:
        workspace = _with(workspace, options.judge, {"split": "whole"})
        (evaluator,) = _one(experiment_evaluators(workspace), options.judge)
    return workspace, evaluator


def _one(evaluators: list[Evaluator], name: str) -> list[Evaluator]:
    if len(evaluators) != 1:
        names = ", ".join(evaluator.name for evaluator in evaluators)
        raise InputError(f"'{plain(name)}' is a family of evaluators", remedy=f"name one of {names}")
    return evaluators


def _with(workspace: Workspace, judge: str, given: Mapping[str, Any]) -> Workspace:
    """The workspace with settings of the evaluator put over those that it has."""
    evaluate = workspace.experiment.evaluate
    name = judge if ":" not in judge else next(iter(evaluate.settings), judge)
    settings = {**evaluate.settings, name: {**evaluate.settings.get(name, {}), **given}} if given else evaluate.settings
    changed = evaluate.model_copy(update={"settings": settings})
    experiment = workspace.experiment.model_copy(update={"evaluate": changed})
    return Workspace(workspace.corpus, workspace.results, experiment)


def _setting(text: str) -> tuple[str, Any]:
    """KEY=VALUE, the value as TOML has it; what is no TOML value is a text. Raises InputError."""
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise InputError(f"--set is '{plain(text)}'", remedy="write KEY=VALUE")
    try:
        read = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        read = value
    return key.strip(), tuple(read) if isinstance(read, list) else read


def _judged(workspace: Workspace, evaluator: Evaluator, labelled: LabelledSet) -> list[Assessment]:
    from ragassay.calls.caller import Caller
    from ragassay.calls.reply_cache import ReplyCache
    from ragassay.evaluate.agreement.meta_eval import judge_rows
    from ragassay.progress import StderrProgress

    from ..pipeline.opening import locked

    with locked(workspace):
        caller = Caller(workspace, "meta-eval", ReplyCache(workspace.replies), StderrProgress())
        try:
            return judge_rows(evaluator, labelled, caller)
        finally:
            caller.close()


def _print(found: MetaEvaluation) -> None:
    judge = f"{found.criterion} by {found.model}" if found.model != found.judge else found.criterion
    print(plain(f"{judge} against the labels of {found.labelled}: {found.n_rows} rows ({found.kind})"))
    scale = f"{found.lowest:g} to {found.highest:g}"
    counted = f"people's yes: {found.relevant} ({found.n_relevant} of {found.n_rows})"
    print(plain(f"{counted}; the judge's: from {found.threshold:g} on its scale of {scale}"))
    _print_figures("yes and no", found.binary)
    if found.graded:
        _print_figures("grades as they are", found.graded)
    if found.confusion is not None:
        _print_confusion(found.confusion)
    for reason in dict.fromkeys(found.undefined.values()):
        names = ", ".join(name for name, why in found.undefined.items() if why == reason)
        print(plain(f"undefined: {names}: {reason}"))
    for error, count in found.errors.items():
        said = error if len(error) <= 200 else f"{error[:200]}…"
        print(plain(f"note: {count} of {found.n_rows} rows could not be judged: {said}"), file=sys.stderr)
    for note in found.notes:
        print(plain(f"note: {note}"), file=sys.stderr)


def _print_figures(title: str, figures: Mapping[str, Figure]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title, "value", "95% interval", "n", "failed")
    for name, figure in figures.items():
        value = "–" if figure.value is None else f"{figure.value:.4f}"
        interval = "–" if figure.ci_low is None else f"{figure.ci_low:.4f} to {figure.ci_high:.4f}"
        table.add_row(name, value, interval, str(figure.n), str(figure.n_failed))
    Console().print(table)


def _print_confusion(confusion: CrossTable) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("people \\ judge")
    for label in confusion.judge:
        table.add_column(label)
    for label, counts in zip(confusion.people, confusion.counts, strict=True):
        table.add_row(Text(plain(label)), *map(str, counts))
    Console().print(table)
