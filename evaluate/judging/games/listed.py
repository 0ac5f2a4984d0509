"""The games of answers ranked together: every list of every query, and what each says of its pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ragassay.calls.caller import Caller
from ragassay.experiment.settings import JudgeSettings
from ragassay.records import Query

from ...inputs.material import Material
from ..engine.cases import ListCase
from ..engine.judge import Judge
from ..engine.rounds import complete, judged
from ..evidence import KnownRelevant
from ..judges.pairwise import Shown
from ..panel import Panel, shown_in_games
from ..together.listwise import games_of
from .played import Beside, Played
from .seating import Sitting, sittings

AGAIN = 100
"""By how much the sample numbers of lists in the same order differ; those of repeats lie between."""


def play_lists(
    material: Material,
    relevant: KnownRelevant,
    panels: Sequence[Panel],
    settings: JudgeSettings,
    caller: Caller,
    beside: Beside = (),
) -> Played:
    """Every list that there is, all in one round. Raises what the caller raises, and InputError."""
    cases = list(list_cases(material, relevant, settings))
    asked = [case for case in cases if case.asked]
    given: list[tuple[Judge[Any], Any]] = [*beside]
    for panel in panels:
        given += [(judge, [c for c in asked if c.presentation == number]) for number, judge in panel.lists.items()]
    parts = judged(given, caller)
    owed = [row for case in asked for panel in panels for row in panel.lists[case.presentation].owed(case)]
    lists = complete(owed, [row for part in parts[len(beside) :] for row in part])
    found = iter(lists)
    games = [
        game
        for case in cases
        for panel in panels
        for game in games_of(case, next(found) if case.asked else None, panel.judge)
    ]
    return Played(games, [row for part in parts[: len(beside)] for row in part], asked, lists)


def list_cases(material: Material, relevant: KnownRelevant, settings: JudgeSettings) -> Iterator[ListCase]:
    """Every list, by query and presentation. Raises InputError where the agents do not fit."""
    shown, queries = shown_in_games(settings), [query.id for query in material.queries]
    seats = sittings(material.agents, queries, settings.presentations, settings.seed)
    for query in material.queries:
        earlier = Counter[tuple[tuple[str, ...], ...]]()
        for sitting in seats[query.id]:
            case = _case(query, sitting, material, relevant, shown)
            yield replace(case, sample=AGAIN * earlier[case.shown])
            earlier[case.shown] += 1


def _case(query: Query, sitting: Sitting, material: Material, relevant: KnownRelevant, shown: Shown) -> ListCase:
    seats: dict[str, list[str]] = {}
    for agent in sitting.agents:
        answer = material.answers[query.id, agent]
        if answer.error is None:
            seats.setdefault(shown.answer(answer), []).append(agent)
    places = [tuple(sorted(agents)) for agents in seats.values()]
    answers = tuple(material.answers[query.id, agent] for agent in material.agents if agent in sitting.agents)
    in_order = tuple(places[::-1] if sitting.turned else places)
    return ListCase(query, answers, in_order, sitting.presentation, relevant.get(query.id, ()))
