"""`ragassay agree meta-eval`: evaluators against people's labels, one by itself or several side by side."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.errors import InputError, RepliesMissing
from ragassay.text import plain

from ..terminal import (
    add,
    add_shared,
    check_least,
    interval_of,
    path_of,
    print_figures,
    print_json,
    print_notes,
    print_p,
    print_rows,
    print_undefined,
    ranks_by,
    value_of,
)

if TYPE_CHECKING:
    from ragassay.evaluate.agreement.labelled_sets import LabelledSet
    from ragassay.evaluate.agreement.meta_eval import MetaEvaluation
    from ragassay.evaluate.judging.engine.evaluator import Evaluator
    from ragassay.experiment.workspace import Workspace
    from ragassay.records import Assessment, Figure

SHOWN = ("precision", "precision_at_set_share", "recall", "f1", "kappa")
"""The figures of the table, the second where there is one, besides off-by-one accuracy of grades; --json has all."""

_PIPED = 160
"""Columns of characters where the table goes into no terminal."""


def print_side_by_side(found: Sequence[MetaEvaluation]) -> None:
    """The table, with the interval below each value; then what failed, and the notes that all share."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    first = found[0]
    print(plain(f"against the labels of {first.labelled}: {first.n_rows} rows ({first.kind}); {_counted(first)}"))
    shown = [name for name in SHOWN if name in first.binary]
    ranks = ["tau_b, its p"] if first.ranks else []
    names = [name.replace("precision_", "") for name in shown]
    near = ["off by one"] if any("off_by_one" in one.graded for one in found) else []
    table = Table(
        "judge", "yes from", *names, *near, *ranks, "n", "failed", box=SIMPLE_HEAD, show_edge=False, pad_edge=False
    )
    for one in found:
        figures = [_two_lines(one.binary[name]) for name in shown]
        if near:
            figures.append(_two_lines(one.graded["off_by_one"]) if "off_by_one" in one.graded else "–")
        if ranks:
            p = one.p.get("tau_b")
            figures.append(_two_lines(one.ranks["tau_b"]) + ("" if p is None else f"\np {p:.2g}"))
        kappa = one.binary["kappa"]
        table.add_row(Text(_named(one, found)), f"{one.threshold:g}", *figures, str(kappa.n), str(kappa.n_failed))
    console = Console()
    if not console.is_terminal:
        console.width = _PIPED
    console.print(table)
    for one in found:
        _print_failures(one, f"{_named(one, found)}: ")
    print_notes(first.notes, sys.stderr)


def _counted(found: MetaEvaluation) -> str:
    """People's yes, how many of the rows that is, and how many of the set that they were drawn from in other shares."""
    of_set = f"; {found.set_relevant:,} of {found.set_rows:,} in the whole set" if found.set_rows else ""
    return f"people's yes: {found.relevant} ({found.n_relevant} of {found.n_rows}{of_set})"


def _print_failures(found: MetaEvaluation, whose: str = "") -> None:
    """How many rows could not be judged, by error."""
    for error, count in found.errors.items():
        said = error if len(error) <= 200 else f"{error[:200]}…"
        print_notes([f"{whose}{count} of {found.n_rows} rows could not be judged: {said}"], sys.stderr)


def _named(one: MetaEvaluation, found: Sequence[MetaEvaluation]) -> str:
    """The criterion, with the model and the wording where these differ."""
    more = [one.model] if len({other.model for other in found}) > 1 else []
    more += [one.prompts] if len({other.prompts for other in found}) > 1 else []
    return plain(f"{one.criterion}, {', '.join(more)}" if more else one.criterion)


def _two_lines(figure: Figure) -> str:
    return f"{value_of(figure, '.3f')}\n{interval_of(figure, '.3f')}"


_DEFAULT_WORK = Path("results") / "meta-eval"


def add_meta_eval(verb: argparse.ArgumentParser) -> None:
    add(
        verb,
        "--judge NAME,…",
        "an evaluator (see `ragassay judge --list`), or several side by side, with a comma between them",
        required=True,
    )
    add(
        verb,
        "--labelled FILE",
        "rows (JSON Lines, CSV, TSV) of claim, document, label; of question, answer, expected, label; or of "
        "question, answer; or qrels (TREC, BEIR) with --passages and --queries",
        type=path_of,
        required=True,
    )
    add(verb, "--kind", "default: by the fields", choices=["relevance", "claims", "answers", "correctness"])
    add(verb, "--passages JSONL", "what the qrels label (BEIR)", type=path_of)
    add(verb, "--queries JSONL", "what they label it for (BEIR)", type=path_of)
    add(verb, "--negatives RUN", "a TREC run: its first passages without a label count as 0", type=path_of)
    add(verb, "--depth K", "how many of --negatives' first", type=int, default=10)
    add(
        verb,
        "--relevant LABEL",
        "people's label that counts: the lowest number, or a word (may be repeated)",
        action="append",
        default=[],
    )
    add(
        verb,
        "--binary-at X",
        "the judge's lowest label that counts; default: 2 of 0 to 3, else the middle of the scale",
        type=float,
    )
    add(verb, "--criterion NAME", "which figure of a judge that gives several")
    add(verb, "--n N", "rows drawn at random; default: all", type=int)
    add(
        verb,
        "--balance",
        "draw half of them from the labels that count, or (grades) as many of each label",
        nargs="?",
        const="halves",
        choices=["halves", "grades"],
    )
    add(
        verb,
        "--set KEY=VALUE",
        "an option of the judge, as in [evaluate.settings]; may be repeated",
        action="append",
        default=[],
    )
    add(verb, "--model MODEL", "provider:name; may be repeated", action="append")
    add_shared(verb, "--base-url", "--mode")
    add(
        verb,
        "--prompts",
        "in whose wording, where there are two; may be repeated (default: --config's, else paper)",
        action="append",
        choices=["paper", "ragassay"],
    )
    add(verb, "--config TOML", "an experiment.toml for models, settings, own judges", type=path_of)
    add(verb, "--max-cost USD", "stop each judge before it spends more", type=float)
    add(verb, "--out JSONL", "the judgments to write", type=path_of)
    add(verb, "--work DIR", "requests and replies (default: results/meta-eval)", type=path_of)
    add_shared(verb, "--bootstrap", "--seed", "--json")


def run_meta_eval(options: argparse.Namespace) -> int:
    """Judge the labelled rows, or what is drawn of them, with each judge, model and wording, and print how well."""
    from ragassay.evaluate.agreement.labelled_sets import sample
    from ragassay.evaluate.agreement.meta_eval import (
        check_fits,
        criterion_of,
        meta_evaluate,
        relevant_labels,
        threshold_of,
    )
    from ragassay.files import write_records

    check_least(options, bootstrap=100, seed=0, depth=1)
    if options.n is not None and options.n < 2:
        raise InputError(f"--n is {options.n}, it must be at least 2")
    if options.balance and options.n is None:
        raise InputError("--balance goes with --n", remedy="say how many rows to draw")
    judges = dict.fromkeys(name.strip() for name in options.judge.split(",") if name.strip())
    if not judges:
        raise InputError("--judge names no evaluator", remedy="see `ragassay judge --list`")
    labelled = _labelled(options)
    relevant = relevant_labels(labelled, options.relevant)
    halves = relevant.labels if options.balance == "halves" else None
    labelled = sample(labelled, options.n, options.seed, halves, evenly=options.balance == "grades")
    models, wordings = dict.fromkeys(options.model or [None]), dict.fromkeys(options.prompts or [None])
    asked = (dict(zip(("judge", "model", "prompts"), each, strict=True)) for each in product(judges, models, wordings))
    made = [_evaluator(argparse.Namespace(**{**vars(options), **each}), labelled) for each in asked]
    for _, evaluator in made:
        check_fits(evaluator, labelled)
        threshold_of(criterion_of(evaluator, options.criterion), options.binary_at)
    judged = _all_judged(made, labelled)
    if options.out:
        write_records(options.out, [row for rows in judged for row in rows])
    found = [
        meta_evaluate(
            evaluator,
            labelled,
            rows,
            relevant,
            criterion=options.criterion,
            threshold=options.binary_at,
            bootstrap=options.bootstrap,
            seed=options.seed,
        )
        for (_, evaluator), rows in zip(made, judged, strict=True)
    ]
    if options.json:
        print_json([one.dump() for one in found] if len(found) > 1 else found[0].dump())
    elif len(found) > 1:
        print_side_by_side(found)
    else:
        _print(found[0])
    return 0


def _all_judged(made: Sequence[tuple[Workspace, Evaluator]], labelled: LabelledSet) -> list[list[Assessment]]:
    """What each gave. Raises the first RepliesMissing once all requests are written that can stand side by side.

    Two models asked by one judge would write over each other's request files: the second waits for the next run.
    """
    from ragassay.calls.caller import Caller
    from ragassay.calls.reply_cache import ReplyCache
    from ragassay.evaluate.agreement.meta_eval import judge_rows
    from ragassay.progress import StderrProgress

    from ..pipeline.opening import locked

    judged: list[list[Assessment]] = []
    missing: dict[str, RepliesMissing] = {}
    for workspace, evaluator in made:
        if evaluator.batch_label in missing:
            continue
        try:
            with locked(workspace):
                cache = ReplyCache(workspace.replies)
                with closing(Caller(workspace, "meta-eval", cache, StderrProgress())) as caller:
                    judged.append(judge_rows(evaluator, labelled, caller))
        except RepliesMissing as error:
            missing[evaluator.batch_label] = error
    if missing:
        raise next(iter(missing.values()))
    return judged


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
    from .judge import files_evaluators, files_workspace, with_settings

    options.with_ = options.judge
    options.work = options.work or (None if options.out else _DEFAULT_WORK)
    given = dict(map(_setting, options.set))
    workspace = files_workspace(options)

    def made(workspace: Workspace, given: Mapping[str, Any]) -> tuple[Workspace, Evaluator]:
        if given:
            known = iter(workspace.experiment.evaluate.settings if ":" in options.judge else ())
            workspace = with_settings(workspace, {next(known, options.judge): given})
        evaluators = files_evaluators(workspace, options)
        if len(evaluators) != 1:
            names = ", ".join(evaluator.name for evaluator in evaluators)
            problem = f"'{plain(options.judge)}' is a family of evaluators"
            raise InputError(problem, remedy=f"name one of {names}")
        return workspace, evaluators[0]

    workspace, evaluator = made(workspace, given)
    if labelled.kind == "claims" and "split" in type(evaluator.options).model_fields and "split" not in given:
        return made(workspace, {"split": "whole"})
    return workspace, evaluator


def _setting(text: str) -> tuple[str, Any]:
    """KEY=VALUE, the value as TOML has it; what is no TOML value is a text. Raises InputError."""
    import tomllib

    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise InputError(f"--set is '{plain(text)}'", remedy="write KEY=VALUE")
    try:
        read = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        read = value
    return key.strip(), tuple(read) if isinstance(read, list) else read


def _print(found: MetaEvaluation) -> None:
    judge = f"{found.criterion} by {found.model}" if found.model != found.judge else found.criterion
    print(plain(f"{judge} against the labels of {found.labelled}: {found.n_rows} rows ({found.kind})"))
    scale = f"{found.lowest:g} to {found.highest:g}"
    print(plain(f"{_counted(found)}; the judge's: from {found.threshold:g} on its scale of {scale}"))
    print_figures(found.binary, "yes and no")
    if found.graded:
        print_figures(found.graded, "grades as they are")
    if found.ranks:
        print_figures(found.ranks, "order of the labels as they are")
        print_p(found.p, ranks_by(found.n_clusters or 0, found.ranks["tau_b"].n))
    if (confusion := found.confusion) is not None:
        rows = [(label, *map(str, n)) for label, n in zip(confusion.people, confusion.counts, strict=True)]
        print_rows(("people \\ judge", *confusion.judge), rows)
    print_undefined(found.undefined)
    _print_failures(found)
    print_notes(found.notes, sys.stderr)
