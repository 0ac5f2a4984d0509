"""Turns of conversations: figures by turn and by move, and the share of conversations of which every turn is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from ragassay.records import Figure, Query

from ..inputs.labels import HIGHEST
from ..results import Conversations, Figures
from ..statistics.clustered import Range, Values
from ..statistics.resamples import Resamples
from .query_values import ComparedMeasure

UNANSWERABLE = "unanswerable"
"""The move, or kind, of a turn that the documents do not answer."""


def conversations_of(
    queries: Sequence[Query],
    measures: Mapping[str, ComparedMeasure],
    scales: Mapping[str, Range],
    right: Mapping[str, Values],
    draws: Resamples,
) -> Conversations | None:
    """None where no query is a turn.

    measures: those on which agents are compared. scales: of those that do not begin at 0, or have no end. right: agent
    to query to its label (0 to 2), by the criterion that tells whether an answer is right; empty where there is none.
    A query that an agent was not asked is in none of its rows.
    """
    turns = {query.id: query for query in queries if query.metadata.get("conversation") is not None}
    if not turns:
        return None
    talks: dict[str, list[str]] = {}
    for id, query in turns.items():
        talks.setdefault(str(query.metadata["conversation"]), []).append(id)
    numbers = {id: str(_number(query)) for id, query in turns.items()}
    moves = {id: str(query.metadata["move"]) for id, query in turns.items() if query.metadata.get("move")}
    answerable = [[id for id in ids if not _unanswerable(turns[id])] for ids in talks.values()]
    return Conversations(
        n_conversations=len(talks),
        n_turns=len(turns),
        by_turn=_by(numbers, measures, scales, draws),
        by_move=_by(moves, measures, scales, draws),
        all_right={agent: _all_right(labels, answerable, draws) for agent, labels in right.items()},
    )


def _number(query: Query) -> int:
    told = query.metadata.get("turn")
    return told if type(told) is int else 1 + sum(turn.role == "user" for turn in query.history)


def _unanswerable(query: Query) -> bool:
    return UNANSWERABLE in (query.metadata.get("move"), query.metadata.get("kind"))


def _by(
    groups: Mapping[str, str],
    measures: Mapping[str, ComparedMeasure],
    scales: Mapping[str, Range],
    draws: Resamples,
) -> dict[str, Figures]:
    """Group to agent to measure to mean."""
    found: dict[str, Figures] = {}
    for group in sorted(set(groups.values()), key=lambda name: (len(name) if name.isdecimal() else 0, name)):
        ids = {id for id, one in groups.items() if one == group}
        figures: Figures = {}
        for name, measure in measures.items():
            limits = scales.get(name, (0.0, inf if measure.width is None else measure.width))
            for agent, values in measure.values.items():
                mine = {id: value for id, value in values.items() if id in ids}
                if mine:
                    figures.setdefault(agent, {})[name] = draws.figure(mine, limits)
        found[group] = figures
    return found


def _all_right(labels: Values, talks: Sequence[Sequence[str]], draws: Resamples) -> Figure:
    """Of conversations with an answerable turn that the agent was asked.

    One is not known where no turn is wrong and one has no label.
    """
    found: dict[str, float | None] = {}
    for ids in talks:
        if told := {id: labels[id] for id in ids if id in labels}:
            wrong = any(label is not None and label < HIGHEST for label in told.values())
            found[next(iter(told))] = 0.0 if wrong else None if None in told.values() else 1.0
    return draws.figure(found, (0.0, 1.0))
