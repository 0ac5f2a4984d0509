"""What evaluators run in where there is no CORPUS: an experiment made of the options and of --config."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.evaluate.judging.catalog import BUILT_IN, FAMILIES, experiment_evaluators
from ragassay.evaluate.judging.engine.evaluator import Evaluator
from ragassay.evaluate.judging.engine.judge import Setup
from ragassay.experiment.model_settings import NO_MODEL, ModelSettings
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import Workspace
from ragassay.text import plain


def files_workspace(options: argparse.Namespace) -> Workspace:
    """An experiment of evaluators only: --config's, with what the options say."""
    base = _experiment(options)
    names = tuple(name.strip() for name in options.with_.split(",") if name.strip())
    custom = tuple(one for one in base.evaluate.custom if one.name in names)
    evaluate = base.evaluate.model_copy(
        update={"judges": names, "custom": custom, "settings": _settings_of(names, base)}
        | {"thresholds": _thresholds_of(names, base) | thresholds_given(getattr(options, "threshold", []))}
        | ({"mode": options.mode} if options.mode else {})
        | ({"model": options.model} if options.model else {})
    )
    folder = Path() if options.config is None else options.config.parent
    if options.max_cost is not None and not options.max_cost > 0:
        raise InputError(f"--max-cost is {options.max_cost:g}", remedy="it must be more than 0")
    run = base.run.model_copy(update={"max_cost_usd": options.max_cost}) if options.max_cost else base.run
    work = options.work or options.out.with_name(f"{options.out.name}.work")
    return Workspace(folder, work, base.model_copy(update={"evaluate": evaluate, "run": run}))


def files_evaluators(workspace: Workspace, options: argparse.Namespace) -> list[Evaluator]:
    """The evaluators of `files_workspace`.

    Raises InputError, said of the options where there is no --config, and where one asks a judge that nobody names.
    """
    try:
        made = experiment_evaluators(workspace)
    except InputError as error:
        if options.config is not None or error.file != workspace.corpus / "experiment.toml":
            raise
        problem = error.problem.replace("[evaluate.thresholds]", "--threshold").replace("in evaluate.judges ", "named ")
        raise InputError(problem, remedy=error.remedy) from None
    if workspace.experiment.evaluating_model == NO_MODEL and any(one.asking == "judge" for one in made):
        raise InputError("--model is missing", remedy="name the judge, such as openai:gpt-4o, or give --config")
    return made


def _settings_of(names: tuple[str, ...], base: Experiment) -> dict[str, dict[str, Any]]:
    """The settings of the evaluators named and of their parts; the file may hold those of others."""
    wanted = {name for given in names for name in FAMILIES.get(given, (given,))}
    wanted |= {part.name for name in wanted if name in BUILT_IN for part in BUILT_IN[name].made_of}
    return {name: table for name, table in base.evaluate.settings.items() if name in wanted or ":" in "".join(names)}


def _thresholds_of(names: tuple[str, ...], base: Experiment) -> dict[str, float]:
    """Those of the file, without what only evaluators that are not named give."""
    wanted = {name for given in names for name in FAMILIES.get(given, (given,))}
    others = [kind for name, kind in BUILT_IN.items() if name not in wanted]
    made = [kind(Setup("openai:none")) for kind in others] if base.evaluate.thresholds else []
    elsewhere = {one.name for one in made} | {criterion.name for one in made for criterion in one.criteria}
    elsewhere |= {one.name for one in base.evaluate.custom if one.name not in names}
    return {name: label for name, label in base.evaluate.thresholds.items() if name not in elsewhere}


def thresholds_given(texts: Sequence[str]) -> dict[str, float]:
    """Of --threshold. Raises InputError for what is not NAME=LABEL."""
    found = {}
    for text in texts:
        name, sign, label = text.partition("=")
        try:
            found[name] = float(label)
        except ValueError:
            sign = ""
        if not (sign and name):
            raise InputError(f"--threshold is '{plain(text)}'", remedy="write NAME=LABEL, such as groundedness=2")
    return found


def _experiment(options: argparse.Namespace) -> Experiment:
    """--config's, or one that has nothing but --model or none; --base-url is the address of --model in either."""
    try:
        if options.config is not None:
            base = load_experiment(options.config)
        else:
            model = {"model": options.model or NO_MODEL}
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
