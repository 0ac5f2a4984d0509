"""Which model wrote an agent's answers with which prompt, and the mean of each measure by the two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ragassay.experiment.settings import Experiment
from ragassay.records import Figure

from ..inputs.material import Material
from ..results import ModelByPrompt
from ..statistics.clustered import Range, Values
from ..statistics.resamples import Resamples
from .compared_measures import ComparedMeasure

BUILT_IN = "built-in"
WHOLE = "built-in for whole documents"
"""What our own prompts are called, where the experiment names none."""


class AnsweredBy(NamedTuple):
    """A model, and a prompt as the experiment or the answers name it; None where that is not known."""

    model: str | None
    prompt: str | None


def settings_say(experiment: Experiment) -> dict[str, AnsweredBy]:
    """Of every agent, in the experiment's order; of a user's own system only who is said to write for it."""
    answer = experiment.answer
    usual = answer.prompt or BUILT_IN
    found = {name: AnsweredBy(answer.model, usual) for name, _, _ in experiment.built_in_agents()}
    for one in experiment.table_agents():
        found[one.name] = AnsweredBy(one.model, one.prompt or (usual if one.variant else WHOLE))
    return found | {one.name: AnsweredBy(one.writer, None) for one in experiment.own_agents()}


def answered_by(experiment: Experiment, material: Material) -> dict[str, AnsweredBy]:
    """The same, after what the answers of the user's own systems carry, where all that do agree."""
    found = settings_say(experiment)
    for one in experiment.own_agents():
        keys = [(query.id, one.name) for query in material.queries]
        rows = [row for key in keys if (row := material.answers.get(key)) is not None]
        found[one.name] = AnsweredBy(_one([r.model for r in rows]) or one.writer, _one([r.prompt for r in rows]))
    return {agent: found[agent] for agent in material.agents if agent in found}


def cross(by: Mapping[str, AnsweredBy]) -> dict[tuple[str, str], list[str]]:
    """(model, prompt) to the agents of which both are known; empty below two models or two prompts."""
    found: dict[tuple[str, str], list[str]] = {}
    for agent, (model, prompt) in by.items():
        if model is not None and prompt is not None:
            found.setdefault((model, prompt), []).append(agent)
    enough = min(len({model for model, _ in found}), len({prompt for _, prompt in found})) >= 2
    return found if enough else {}


def models_by_prompts(
    by: Mapping[str, AnsweredBy], measures: Mapping[str, ComparedMeasure], lowest: Mapping[str, Range], draws: Resamples
) -> tuple[ModelByPrompt, ...]:
    """The mean of each measure over all answers of a model and a prompt, whichever agents gave them.

    lowest: the scales of those measures that do not begin at 0. n and n_failed count answers.
    """
    return tuple(
        ModelByPrompt(
            model=model, prompt=prompt, agents=tuple(agents), means=dict(_means(agents, measures, lowest, draws))
        )
        for (model, prompt), agents in cross(by).items()
    )


def _means(
    agents: Sequence[str], measures: Mapping[str, ComparedMeasure], scales: Mapping[str, Range], draws: Resamples
) -> Iterator[tuple[str, Figure]]:
    for name, one in measures.items():
        if given := [one.values[agent] for agent in agents if agent in one.values]:
            low = scales[name][0] if name in scales else 0.0
            limits = None if one.width is None else (low, low + one.width)
            yield name, _mean(given, limits, draws)


def _mean(given: Sequence[Values], limits: Range | None, draws: Resamples) -> Figure:
    rows = [pair for values in given for pair in values.items()]
    known = [(query, value) for query, value in rows if value is not None]
    return draws.mean(known, len(rows) - len(known), limits)


def _one(said: Sequence[str | None]) -> str | None:
    known = {one for one in said if one is not None}
    return known.pop() if len(known) == 1 else None
