"""Turns of conversations: figures by turn and by move, the share of conversations of which every turn is right, and
what it costs a search that a turn leans on what was said.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from ragassay.records import Figure, Query

from ..inputs.labels import HIGHEST
from ..results import Conversations, Figures
from ..statistics.clustered import Range, Values
from ..statistics.resamples import Resamples

if TYPE_CHECKING:
    from .query_values import ComparedMeasure

UNANSWERABLE = "unanswerable"
"""The move, or kind, of a turn that the documents do not answer."""


GIVEN = "given-stand-alone"
"""The way of searching by `metadata.stand_alone`."""


def bounds(settings: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Name of a search to that of the one by the question that stands alone, which is set like it in all else.

    settings: name to its settings, scalars by key.
    """

    def all_else(row: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
        told = {key: value for key, value in row.items() if value is not None and not key.startswith("rewrite")}
        return frozenset((key, repr(value)) for key, value in told.items())

    given = {all_else(row): name for name, row in settings.items() if row.get("rewrite") == GIVEN}
    found = ((name, given.get(all_else(row))) for name, row in settings.items() if row.get("rewrite") != GIVEN)
    return {name: bound for name, bound in found if bound is not None}


def leaning_turns(queries: Sequence[Query]) -> list[Query]:
    """The turns from the second on that say how one asks for the same alone."""
    return [query for query in queries if query.history and getattr(query.text, "stand_alone", None)]


def conversations_of(
    queries: Sequence[Query],
    measures: Mapping[str, ComparedMeasure],
    scales: Mapping[str, Range],
    right: Mapping[str, Values],
    draws: Resamples,
    searches: Mapping[str, Mapping[str, Any]],
) -> Conversations | None:
    """None where no query is a turn.

    measures: those on which agents are compared. scales: of those that do not begin at 0, or have no end. right: agent
    to query to its label (0 to 2), by the criterion that tells whether an answer is right; empty where there is none.
    searches: agent to the settings of its search and of what answers, of those that have a table of their own.
    A query that an agent was not asked is in none of its rows.
    """
    turns = {query.id: query for query in queries if query.metadata.get("conversation") is not None}
    if not turns:
        return None
    talks: dict[str, list[str]] = {}
    for id, query in turns.items():
        talks.setdefault(str(query.metadata["conversation"]), []).append(id)
    numbers = {id: str(number_of(query)) for id, query in turns.items()}
    moves = {id: str(query.metadata["move"]) for id, query in turns.items() if query.metadata.get("move")}
    answerable = [[id for id in ids if is_answerable(turns[id].metadata)] for ids in talks.values()]
    all_right: dict[str, Figure] = {}
    for agent, labels in right.items():
        found: dict[str, float | None] = {}
        for ids in answerable:
            # Of conversations with an answerable turn that the agent was asked.
            if told := {id: labels[id] for id in ids if id in labels}:
                found[next(iter(told))] = whole_right(told.values())
        all_right[agent] = draws.figure(found, (0.0, 1.0))
    return Conversations(
        n_conversations=len(talks),
        n_turns=len(turns),
        by_turn=_by(numbers, measures, scales, draws),
        by_move=_by(moves, measures, scales, draws),
        all_right=all_right,
        price=_price(bounds(searches), {query.id for query in leaning_turns(queries)}, measures, scales, draws),
    )


def number_of(query: Query) -> int:
    """Which turn of its conversation it is, from 1."""
    told = query.metadata.get("turn")
    return told if type(told) is int else 1 + sum(turn.role == "user" for turn in query.history)


def is_answerable(metadata: Mapping[str, Any]) -> bool:
    """Whether the documents answer the turn, by its metadata."""
    return UNANSWERABLE not in (metadata.get("move"), metadata.get("kind"))


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
            limits = scales.get(name, measure.limits)
            for agent, values in measure.values.items():
                mine = {id: value for id, value in values.items() if id in ids}
                if mine:
                    figures.setdefault(agent, {})[name] = draws.figure(mine, limits)
        found[group] = figures
    return found


def whole_right(labels: Collection[float | None]) -> float | None:
    """1 where every answerable turn has the highest label, 0 where one has another; else None, one having none."""
    wrong = any(label is not None and label < HIGHEST for label in labels)
    return 0.0 if wrong else None if None in labels else 1.0


def _price(
    bounds: Mapping[str, str],
    turns: Set[str],
    measures: Mapping[str, ComparedMeasure],
    scales: Mapping[str, Range],
    draws: Resamples,
) -> Figures:
    """Agent to measure to its value less that of its bound, a mean of paired differences over those turns."""
    found: Figures = {}
    for name, measure in measures.items():
        low, high = scales.get(name, measure.limits)
        for agent, bound in bounds.items():
            mine, theirs = (measure.values.get(one, {}) for one in (agent, bound))
            gaps: dict[str, float | None] = {}
            for id in turns & mine.keys() & theirs.keys():
                value, best = mine[id], theirs[id]
                gaps[id] = None if value is None or best is None else value - best
            if gaps:
                found.setdefault(agent, {})[name] = draws.figure(gaps, (low - high, high - low))
    return found
