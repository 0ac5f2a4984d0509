"""What judging would take by pairs, with answers ranked together, and with passages graded together as well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.evaluate.judging.panel import judge_mode
from ragassay.experiment.judge_settings import JudgeSettings
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import Workspace
from ragassay.models.prices import cost_usd

from .loads import estimate

WAYS: Mapping[str, Mapping[str, Any]] = {
    "pairs": {"games": "all", "relevance_batch": 1},
    'games = "listwise"': {"games": "listwise", "relevance_batch": 1},
    'games = "listwise", relevance_batch = 10': {"games": "listwise", "relevance_batch": 10},
}
"""What is set under `[judge]`."""


@dataclass(frozen=True)
class Way:
    """Estimates of the whole stage `judge` with nothing in the cache; cost_usd is None where a price is not known."""

    name: str
    calls: int
    cost_usd: float | None


def ways_of_judging(workspace: Workspace) -> list[Way]:
    """One for each of `WAYS` that the settings allow; empty where only one is left to choose.

    Raises InputError where a prompt cannot be read.
    """
    changed = ((name, _with(workspace.experiment, changes)) for name, changes in WAYS.items())
    ways = [_way(name, replace(workspace, experiment=one)) for name, one in changed if one is not None]
    return ways if len(ways) > 1 else []


def _with(experiment: Experiment, changes: Mapping[str, Any]) -> Experiment | None:
    """The experiment with `[judge]` changed, or None where it would be refused so."""
    try:
        judge = JudgeSettings.model_validate(experiment.judge.model_dump(exclude_unset=True) | dict(changes))
        changed = experiment.model_copy(update={"judge": judge})
        for model in judge.models:
            judge_mode(changed, model)
    except (ValidationError, InputError):
        return None
    return changed


def _way(name: str, workspace: Workspace) -> Way:
    calls, cost, known = 0, 0.0, True
    for load in estimate("judge", workspace):
        settings = workspace.experiment.settings_of(load.model)
        price = cost_usd(load.model, settings, load.input_tokens, load.output_tokens, batch=settings.mode == "batch")
        known, calls, cost = known and price is not None, calls + load.calls, cost + (price or 0.0)
    return Way(name, calls, cost if known else None)
