"""A conversation as one: every turn that was asked, what was said between, each chosen agent's answers and games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ragassay.evaluate.figures.turns_and_steps import is_answerable, whole_right
from ragassay.evaluate.inputs.labels import HIGHEST
from ragassay.evaluate.report.plots import colours_of
from ragassay.evaluate.report.queries import game_views
from ragassay.evaluate.results import POINTS

from ..asked import bench_of, index_of, render
from ..index.read import Index
from . import View
from .queries import columns_of, listing_of
from .query import Group, Standing, by_answer, groups_of, ids_of, standings


@dataclass(frozen=True)
class TurnShown:
    """A turn that was asked. said: what stands in its history behind the turn before, and nobody was asked; parts: its
    history has something else where the turn before has what was said or asked."""

    query: Mapping[str, Any]
    said: Sequence[Mapping[str, Any]]
    parts: bool
    groups: Sequence[Group]
    standings: Mapping[str, Standing]
    labels: Mapping[str, Sequence[Mapping[str, Any]]]
    numbers: Mapping[str, int]


@dataclass(frozen=True)
class AgentTurns:
    """An agent's label of each turn by the criterion that says what is right: None where it failed or is missing, ""
    where the agent was not asked. whole: as `whole_right` has it, None as well where it was asked no answerable turn.
    """

    agent: str
    labels: Sequence[float | str | None]
    whole: float | None


def since(history: Sequence[Mapping[str, Any]], before: Sequence[Mapping[str, Any]]) -> tuple[int, bool]:
    """How many turns a history begins with that stand in what was said `before`; whether the two part behind these."""
    same = 0
    for one, other in zip(history, before, strict=False):
        if (one["role"], one["text"]) != (other["role"], other["text"]):
            return same, True
        same += 1
    return same, False


def turns_of(index: Index, conversation: str, agents: Sequence[str]) -> list[TurnShown]:
    """The turns that were asked, in their order, with what these agents answered."""
    before: list[Mapping[str, Any]] = []
    shown = []
    points = index.column(POINTS)
    for query in index.queries(index.turns(conversation)):
        place = query["place"]
        same, parts = since(query["history"], before)
        answers, labels = index.answers(place), index.labels(place)
        given = {agent: float(column[place]) for agent, column in points.items() if column[place] == column[place]}
        ranked = standings(game_views(index.games(place), index.agents), index.agents, given)
        numbers = {id: number for number, id in enumerate(ids_of(answers, labels, index.steps(place)), 1)}
        groups = groups_of([answer for answer in answers if answer["name"] in agents], numbers)
        said = query["history"][same:]
        shown.append(TurnShown(query, said, parts, groups, ranked, by_answer(labels), numbers))
        before = [*query["history"], {"role": "user", "text": query["text"]}]
    return shown


def right_of(index: Index, criterion: str, turns: Sequence[TurnShown], agents: Sequence[str]) -> list[AgentTurns]:
    """Which turns each agent got right, by the values that `compare` left; nothing before it has run."""
    found = []
    for agent in agents:
        if (column := index.column(criterion).get(agent)) is None:
            continue
        owed, places = index.owed(criterion)[agent], [turn.query["place"] for turn in turns]
        labels = [(float(column[at]) if column[at] == column[at] else None) if owed[at] else "" for at in places]
        counted = zip(turns, labels, strict=True)
        told = [one for turn, one in counted if not isinstance(one, str) and is_answerable(turn.query["metadata"])]
        found.append(AgentTurns(agent, labels, whole_right(told) if told else None))
    return found


def show(request: Request) -> Response:
    """The page of a conversation, by its name; `agents` are those whose answers are shown, all where none is named."""
    bench, index = bench_of(request), index_of(request)
    conversation = request.path_params["conversation"]
    listing, columns = columns_of(index, listing_of(request.query_params))
    turns = turns_of(index, conversation, columns.agents)
    if not turns:
        raise HTTPException(404)
    criterion = next(iter(bench.workspace.experiment.judge.criteria), "")
    shown: dict[str, Any] = {
        "conversation": conversation,
        "turns": turns,
        "right": right_of(index, criterion, turns, columns.agents),
        "criterion": criterion,
        "highest": HIGHEST,
        "columns": columns,
        "colour": colours_of(index.agents),
        "listing": listing,
    }
    return render(request, "conversation.html.j2", bench, **shown)


class Conversations(View):
    """One conversation, which its turns lead to."""

    name, title, order = "conversations", "", 22
    routes = (("/conversations/{conversation:path}", show, ["GET"]),)
