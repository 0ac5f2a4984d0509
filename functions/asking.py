"""Evaluators asked from Python: whom, where replies are kept, what at most may be paid, and what it came to."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.cli.on_files.evaluators import files_workspace
from ragassay.cli.pipeline.opening import locked
from ragassay.errors import InputError, RepliesMissing
from ragassay.evaluate.judging.catalog import BUILT_IN, experiment_evaluators
from ragassay.evaluate.judging.engine.cases import QueryCase
from ragassay.evaluate.judging.engine.evaluator import Evaluator
from ragassay.evaluate.judging.engine.rounds import assess
from ragassay.experiment.model_settings import NO_MODEL
from ragassay.experiment.workspace import Workspace
from ragassay.progress import NoProgress, Outcome
from ragassay.records import Assessment
from ragassay.text import plain

from .session import Spent

Mode = Literal["auto", "label", "probability"]


@dataclass(frozen=True)
class Asking:
    """How evaluators are asked.

    model: the judge, such as `openai:gpt-4o`; base_url: its address, if not its provider's. mode: for labels with
    reasons, or for probabilities. work: the folder that keeps requests and replies; equal requests are paid for once.
    max_cost: US dollars, of this call alone; None: config's, or 20. config: an experiment.toml for the settings of
    models and judges.
    """

    model: str | None = None
    base_url: str | None = None
    mode: Mode | None = None
    work: str | Path = ".ragassay"
    max_cost: float | None = None
    config: str | Path | None = None

    def workspace(self, names: Sequence[str], settings: Mapping[str, Mapping[str, Any]]) -> Workspace:
        """An experiment of these evaluators only, with their options. Raises InputError."""
        if self.max_cost is not None and not self.max_cost > 0:
            raise InputError(f"max_cost is {self.max_cost:g}", remedy="it must be more than 0")
        model = self.model or (None if self.config else NO_MODEL)
        made = files_workspace(
            argparse.Namespace(
                with_=",".join(names),
                model=model,
                base_url=self.base_url,
                mode=self.mode,
                config=None if self.config is None else Path(self.config),
                max_cost=self.max_cost,
                work=Path(self.work),
            )
        )
        options = {name: {**made.experiment.evaluate.settings.get(name, {}), **settings[name]} for name in settings}
        known = made.experiment.evaluate.settings | {name: table for name, table in options.items() if table}
        evaluate = made.experiment.evaluate.model_copy(update={"settings": known})
        return Workspace(made.corpus, made.results, made.experiment.model_copy(update={"evaluate": evaluate}))


class _Counting(NoProgress):
    """Counts the replies by what became of them."""

    def __init__(self) -> None:
        self.outcomes: Counter[Outcome] = Counter()

    def advance(self, outcome: Outcome, spent_usd: float | None, error: str | None = None) -> None:
        del spent_usd, error
        self.outcomes[outcome] += 1


def evaluators_in(workspace: Workspace, caller: str) -> list[Evaluator]:
    """Those of the workspace, each with its options. Raises InputError, said of `caller` and not of a file."""
    try:
        return experiment_evaluators(workspace)
    except InputError as error:
        problem = re.sub(r"^evaluate\.settings\.[^:]+: ", "", error.problem)
        raise InputError(problem, file=caller, remedy=error.remedy) from None


def ask(
    workspace: Workspace, evaluators: Sequence[Evaluator], cases: Sequence[QueryCase], caller: str
) -> tuple[list[Assessment], Spent]:
    """Every assessment that the cases owe, in the evaluators' order, and what was spent.

    Waits while another process asks from the same folder. Raises InputError where a judge is to be asked and none is
    named, and what a caller raises (BudgetSpent, RepliesMissing).
    """
    unnamed = workspace.experiment.evaluating_model == NO_MODEL
    ours = [one for one in evaluators if one.name in BUILT_IN]
    if asking := [one.name for one in ours if unnamed and one.asking == "judge"]:
        raise _no_model(asking[0], caller)
    for evaluator in evaluators:
        if any(not evaluator.lacks(case.query) for case in cases):
            evaluator.check_at_hand()
    counting = _Counting()
    with locked(workspace, wait=True):
        asked = Caller(workspace, "judge", ReplyCache(workspace.replies), counting)
        try:
            rows = assess(evaluators, cases, asked)
        except RepliesMissing:
            if unnamed:
                raise _no_model(evaluators[0].name, caller) from None
            raise
        finally:
            asked.close()
    return rows, _spent(asked, counting.outcomes)


def _spent(asked: Caller, outcomes: Counter[Outcome]) -> Spent:
    priced = not (outcomes["done"] and any(usage.n_unmeasured for usage in asked.usage()))
    return Spent(outcomes["cached"], outcomes["done"], outcomes["failed"], asked.new_usd, priced)


def _no_model(name: str, caller: str) -> InputError:
    remedy = 'give model="openai:gpt-4o" or the like, or an experiment.toml as config'
    return InputError(f"{plain(name)} asks a model and none is named", file=caller, remedy=remedy)
