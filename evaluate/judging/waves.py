"""Waves: the agents in the order in which they came to be judged, so that who joins later has nothing asked anew.

`waves.json` keeps it: a list of lists of names. What a judge is shown to be relevant for an answer, a game or a list is
what the agents up to its wave had retrieved; passages that a wave brings are graded by themselves. So the requests of
earlier waves stay as they were. Without the file, or where an agent of the first wave is gone, all are one wave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ragassay.errors import InputError
from ragassay.experiment.judge_settings import JudgeSettings
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_json, write_json
from ragassay.text import listed, plain

from ..inputs.material import Material
from .engine.cases import QueryCase, cases_of
from .evidence import KnownRelevant
from .same_text import shown_once

Waves = tuple[tuple[str, ...], ...]


def waves_of(workspace: Workspace, agents: Sequence[str]) -> Waves:
    """The waves of `agents`; those that `waves.json` does not name are the last one.

    Raises InputError where the file is not such a list.
    """
    known = _read(workspace) if workspace.waves.exists() and workspace.experiment.judge.anchors else []
    if not known or not {*known[0]} <= {*agents}:
        return (tuple(agents),)
    before = {agent for wave in known for agent in wave}
    waves = [*known, [agent for agent in agents if agent not in before]]
    return tuple(kept for wave in waves if (kept := tuple(agent for agent in wave if agent in agents)))


def write_waves(workspace: Workspace, waves: Waves) -> None:
    """Write `waves.json`, atomically."""
    write_json(workspace.waves, [list(wave) for wave in waves])


def _read(workspace: Workspace) -> list[list[str]]:
    value: Any = read_json(workspace.waves)
    waves: Any = value if isinstance(value, list) and all(isinstance(wave, list) for wave in value) else [[None]]
    names = [name for wave in waves for name in wave]
    if not all(isinstance(name, str) for name in names) or len({*names}) < len(names):
        remedy = "remove it: all agents are then judged as one wave"
        raise InputError("is not a list of lists of agents, each named once", file=workspace.waves, remedy=remedy)
    return [wave for wave in waves if wave]


def cases_by_wave(material: Material) -> list[list[QueryCase]]:
    """By wave, each query with what the wave brings: its answers, and the passages that none before it retrieved."""
    whole, found = cases_of(material), []
    for number, agents in enumerate(material.waves):
        found.append([_of_wave(case, number, {*agents}, material) for case in whole])
    return found


def _of_wave(case: QueryCase, number: int, agents: set[str], material: Material) -> QueryCase:
    seen = {*material.pool(case.query.id, number - 1)} if number else set()
    new = {*material.pool(case.query.id, number)} - seen
    return replace(
        case,
        passages=tuple(passage for passage in case.passages if passage.id in new),
        answers=tuple(answer for answer in case.answers if answer.subject in agents),
        failed=tuple(answer for answer in case.failed if answer.agent in agents),
    )


def relevant_by_wave(material: Material, relevant: KnownRelevant) -> list[KnownRelevant]:
    """Of what is relevant, by wave, what the agents up to it had retrieved, each text once."""
    return [
        {
            query: shown_once(one for one in rows if one.passage.id in pool)
            for query, rows in relevant.items()
            for pool in [{*material.pool(query, number)}]
        }
        for number in range(len(material.waves))
    ]


def said_of(waves: Waves, settings: JudgeSettings) -> list[str]:
    """A note on each wave that joined later, where answers are ranked together."""
    notes = []
    for number, wave in enumerate(waves[1:] if settings.listwise else (), 1):
        n = sum(len(before) for before in waves[:number])
        against = f"{settings.anchors} of the {n}" if settings.anchors < n else f"the {n}"
        notes.append(f"{plain(listed(wave))} joined later: on each query ranked against {against} agents before")
    return notes
