"""What judging would take by pairs, with answers ranked together, and with passages graded together as well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ragassay.experiment.settings import JudgeSettings
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

    A judge of probabilities ranks nothing, and a prompt of the user's own is for the way it was written for.
    """
    judge = workspace.experiment.judge
    ways = [_way(name, changes, workspace) for name, changes in WAYS.items() if _fits(judge, changes)]
    return ways if len(ways) > 1 else []


def _fits(judge: JudgeSettings, changes: Mapping[str, Any]) -> bool:
    listed = changes["games"] == "listwise"
    if listed and (judge.mode == "probability" or judge.model.startswith("local:")):
        return False
    if listed and judge.games_prompt and not judge.listwise_prompt:
        return False
    return not (changes["relevance_batch"] > 1 and judge.relevance_prompt and not judge.relevance_batch_prompt)


def _way(name: str, changes: Mapping[str, Any], workspace: Workspace) -> Way:
    experiment = workspace.experiment
    changed = experiment.model_copy(update={"judge": experiment.judge.model_copy(update=dict(changes))})
    calls, cost = 0, 0.0
    known = True
    for load in estimate("judge", replace(workspace, experiment=changed)):
        settings = experiment.settings_of(load.model)
        price = cost_usd(load.model, settings, load.input_tokens, load.output_tokens, batch=settings.mode == "batch")
        known, calls, cost = known and price is not None, calls + load.calls, cost + (price or 0.0)
    return Way(name, calls, cost if known else None)
