"""From the command line's words to a workspace: the corpus folder, its experiment, and the overrides."""

from __future__ import annotations

import argparse
import fcntl
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragassay.config import Experiment, load_experiment
from ragassay.errors import InputError
from ragassay.models import provider_of
from ragassay.workspace import Workspace


def open_workspace(options: argparse.Namespace) -> Workspace:
    """The workspace of CORPUS with --results, --model and --max-cost applied. Raises InputError."""
    corpus: Path = options.corpus
    if not corpus.is_dir():
        raise InputError("there is no such folder", file=corpus, remedy=f"`ragassay new {corpus} a.pdf` makes it")
    experiment = load_experiment(corpus / "experiment.toml")
    for model in sorted(experiment.model_names()):
        provider_of(model)
    results = options.results or Path("results") / _folder_name(corpus)
    return Workspace(corpus, results, _overridden(experiment, options))


def _folder_name(corpus: Path) -> str:
    name = re.sub(r"[^\w.-]+", "-", corpus.resolve().name).strip("-.")
    return name or "corpus"


def _overridden(experiment: Experiment, options: argparse.Namespace) -> Experiment:
    changes: dict[str, object] = {}
    if model := getattr(options, "model", None):
        provider_of(model)
        questions = experiment.questions.model_copy(update={"quota": {model: sum(experiment.questions.quota.values())}})
        changes["questions"] = questions if experiment.questions.quota else experiment.questions
        changes["answer"] = experiment.answer.model_copy(update={"model": model})
        changes["judge"] = experiment.judge.model_copy(update={"model": model})
    if (limit := getattr(options, "max_cost", None)) is not None:
        if limit <= 0:
            raise InputError(f"--max-cost is {limit}, it must be more than 0")
        changes["run"] = experiment.run.model_copy(update={"max_cost_usd": limit})
    return experiment.model_copy(update=changes)


@contextmanager
def locked(workspace: Workspace) -> Iterator[None]:
    """Hold the results folder, so that two runs do not write into it at once. Raises InputError where one does."""
    workspace.results.mkdir(parents=True, exist_ok=True)
    with (workspace.results / ".lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError("another run is writing here", file=workspace.results, remedy="wait for it") from None
        yield
