"""`ragassay judge` on files of anybody's, and `ragassay judges`, which lists the evaluators."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.settings import Experiment, ModelSettings
from ragassay.experiment.workspace import Workspace
from ragassay.progress import StderrProgress
from ragassay.records import Assessment
from ragassay.text import plain

from ..pipeline.runner import run_one

if TYPE_CHECKING:
    from ragassay.evaluate.judging.engine.evaluator import Evaluator

_ON_FILES = ("answers", "out", "with_")
_ALSO_ON_FILES = ("passages", "queries", "config", "base_url", "mode", "work")
_ON_CORPUS = ("results", "ignore_recorded", "retry_failed")


def judge(options: argparse.Namespace) -> int:
    """The stage on CORPUS, or the evaluators that --with names on --answers."""
    if options.corpus is not None:
        if given := _first(options, *_ON_FILES, *_ALSO_ON_FILES):
            raise InputError(f"{given} does not go with CORPUS", remedy="leave one of them out")
        return run_one(options)
    if missing := next((name for name in _ON_FILES if not getattr(options, name)), None):
        raise InputError(f"--{missing.rstrip('_')} is missing", remedy="see `ragassay judge --help`")
    if given := _first(options, *_ON_CORPUS):
        raise InputError(f"{given} goes with CORPUS only", remedy="leave it out")
    if options.base_url and not options.model:
        raise InputError("--base-url is without --model", remedy="name the model that is there")
    for given in (*options.answers, options.passages, options.queries, options.config):
        if given is not None and options.out.exists() and options.out.resolve() == given.resolve():
            raise InputError("--out is a file that is read", file=options.out, remedy="name another one")
    return _judge_files(options)


def _first(options: argparse.Namespace, *names: str) -> str | None:
    """The first of the options that is given, as it is written."""
    given = next((name for name in names if getattr(options, name)), None)
    return given and f"--{given.rstrip('_').replace('_', '-')}"


def judges(options: argparse.Namespace) -> int:
    """Print every evaluator by family: name, what it judges, its scale, what it needs."""
    del options
    from itertools import groupby
    from textwrap import fill

    from ragassay.evaluate.judging.catalog import BUILT_IN
    from ragassay.evaluate.judging.engine.judge import (
        Setup,
    )

    for family, kinds in groupby(BUILT_IN.values(), lambda kind: kind.family):
        print(f"{family}")
        for kind in kinds:
            criteria = kind(Setup("openai:none")).criteria
            scale = f"{criteria[0].lowest:g} to {criteria[0].highest:g}"
            needs = f", needs {', '.join(kind.needs)}" if kind.needs else ""
            print(f"  {kind.name}: of each {kind.unit}, {scale}{needs}")
            print(fill(kind.about, 88, initial_indent="    ", subsequent_indent="    "))
            if len(criteria) > 1:
                given = f"gives {', '.join(criterion.name for criterion in criteria)}"
                print(fill(given, 88, initial_indent="    ", subsequent_indent="    "))
    return 0


def _judge_files(options: argparse.Namespace) -> int:
    from ragassay.calls.caller import Caller
    from ragassay.calls.reply_cache import ReplyCache
    from ragassay.evaluate.from_files.answers import read_cases
    from ragassay.evaluate.judging.catalog import experiment_evaluators
    from ragassay.evaluate.judging.engine.rounds import assess
    from ragassay.evaluate.judging.notices import by_criterion, failures, passed_over
    from ragassay.files import write_records

    from ..pipeline.opening import locked

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
    print(f"{options.out}: {len(rows)} judgments")
    return 0


def files_workspace(options: argparse.Namespace) -> Workspace:
    """An experiment of evaluators only: --config's, with what the options say."""
    base = _experiment(options)
    names = tuple(name.strip() for name in options.with_.split(",") if name.strip())
    custom = tuple(one for one in base.evaluate.custom if one.name in names)
    evaluate = base.evaluate.model_copy(
        update={"judges": names, "custom": custom, "settings": _settings_of(names, base)}
        | ({"mode": options.mode} if options.mode else {})
        | ({"model": options.model} if options.model else {})
    )
    folder = Path() if options.config is None else options.config.parent
    if options.max_cost is not None and not options.max_cost > 0:
        raise InputError(f"--max-cost is {options.max_cost:g}", remedy="it must be more than 0")
    run = base.run.model_copy(update={"max_cost_usd": options.max_cost}) if options.max_cost else base.run
    work = options.work or options.out.with_name(f"{options.out.name}.work")
    return Workspace(folder, work, base.model_copy(update={"evaluate": evaluate, "run": run}))


def _settings_of(names: tuple[str, ...], base: Experiment) -> dict[str, dict[str, Any]]:
    """The settings of the evaluators named; the file may hold those of others."""
    from ragassay.evaluate.judging.catalog import FAMILIES

    wanted = {name for given in names for name in FAMILIES.get(given, (given,))}
    return {name: table for name, table in base.evaluate.settings.items() if name in wanted or ":" in "".join(names)}


def _experiment(options: argparse.Namespace) -> Experiment:
    """--config's, or one that has nothing but --model; --base-url is the address of --model in either."""
    if options.config is None and options.model is None:
        raise InputError("--model is missing", remedy="name the judge, such as openai:gpt-4o, or give --config")
    try:
        if options.config is not None:
            base = load_experiment(options.config)
        else:
            model = {"model": options.model}
            base = Experiment.model_validate({"questions": {"source": "own"}, "answer": model, "judge": model})
        return _at(base, options.model, options.base_url)
    except ValidationError as error:
        problem = str(error.errors(include_url=False)[0]["msg"]).removeprefix("Value error, ")
        raise InputError(plain(problem), remedy="see --model and --base-url") from None


def _at(base: Experiment, model: str | None, base_url: str | None) -> Experiment:
    """The experiment with the address of `model`, where one is given."""
    if model is None or not base_url:
        return base
    changed = ModelSettings.model_validate(base.settings_of(model).model_dump() | {"base_url": base_url})
    return base.model_copy(update={"models": {**base.models, model: changed}})


def _print_means(rows: list[Assessment], evaluators: list[Evaluator]) -> None:
    """The mean of each criterion for each agent, or over all passages, with its interval over queries."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from ragassay.evaluate.figures.evaluator_means import means

    table = Table("criterion", "of", "mean", "95% interval", "n", "failed")
    for criterion, subject, figure in means(rows, evaluators):
        value = "–" if figure.value is None else f"{figure.value:.3f}"
        interval = "–" if figure.ci_low is None else f"{figure.ci_low:.3f} to {figure.ci_high:.3f}"
        table.add_row(criterion, Text(plain(subject)), value, interval, str(figure.n), str(figure.n_failed))
    Console().print(table)
