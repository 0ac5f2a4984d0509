"""The games of answers ranked together: the lists of every query, or of those that adaptive play needs, and what each
says of its pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ragassay.calls.caller import Caller
from ragassay.experiment.judge_settings import JudgeSettings
from ragassay.records import Assessment, Game, Query, RankedList

from ...inputs.material import Material
from ..engine.cases import Evidence, ListCase
from ..engine.judge import Judge
from ..engine.rounds import complete, judged
from ..evidence import KnownRelevant
from ..judges.pairwise import Shown
from ..panel import Panel, shown_in_games
from ..together.listwise import games_of
from ..waves import relevant_by_wave
from .adaptive_lists import chosen_lists
from .blocks import Block, Plan
from .played import Beside, Played
from .seating import Sitting, sittings, turns

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
    """Every list that there is, all in one round, or round by round those of the queries that adaptive play needs.

    beside: what is asked in the first round together with the lists. Raises what the caller raises, and InputError.
    """
    cases: Sequence[ListCase] = list(list_cases(material, relevant, settings))
    lists: list[RankedList] = []
    answers: list[Assessment] = []
    waiting: list[tuple[Judge[Any], Sequence[Any]]] = list(beside)

    def play(some: Sequence[ListCase]) -> list[Game]:
        asked: list[tuple[Judge[Any], Sequence[Any]]] = [*waiting]
        for panel in panels:
            for number, judge in panel.lists.items():
                asked.append((judge, [case for case in some if case.asked and case.presentation == number]))
        parts = judged(asked, caller)
        answers.extend(row for part in parts[: len(waiting)] for row in part)
        made = [row for part in parts[len(waiting) :] for row in part]
        waiting.clear()
        lists.extend(made)
        return _games(some, made, panels)

    if settings.games == "listwise-adaptive":
        cases = chosen_lists(cases, material, settings, play)
    if settings.games == "listwise" or waiting:  # a single agent plays nothing
        play(cases)
    return Played(
        _games(cases, lists, panels), answers, [case for case in cases if case.asked], _complete(cases, lists, panels)
    )


def _complete(cases: Sequence[ListCase], made: Sequence[RankedList], panels: Sequence[Panel]) -> list[RankedList]:
    owed = [row for case in cases for panel in panels for row in panel.lists[case.presentation].owed(case)]
    return complete(owed, made)


def _games(cases: Sequence[ListCase], made: Sequence[RankedList], panels: Sequence[Panel]) -> list[Game]:
    """What the lists say, in the order of the cases, by each judge."""
    found = iter(_complete(cases, made, panels))
    return [
        game
        for case in cases
        for panel in panels
        for game in games_of(case, next(found) if case.asked else None, panel.judge)
    ]


def list_cases(material: Material, relevant: KnownRelevant, settings: JudgeSettings) -> Iterator[ListCase]:
    """Every list, by query, block and presentation."""
    shown, queries = shown_in_games(settings), [query.id for query in material.queries]
    plan = Plan(material.waves, queries, settings.anchors, settings.seed)
    known, turn = relevant_by_wave(material, relevant), turns(queries, f"{settings.seed}:presentations")
    for query in material.queries:
        blocks = plan.blocks(query.id)
        for number, block in enumerate(blocks):
            case = _case(query, block, material, known[block.wave].get(query.id, ()))
            if len(blocks) > 1:
                case = replace(case, pairs=block.pairs, block=number + 1)
            yield from _presented(case, sittings(block.agents, turn[query.id] + number, settings.presentations), shown)


def _case(query: Query, block: Block, material: Material, known: tuple[Evidence, ...]) -> ListCase:
    answers = tuple(material.answers[query.id, agent] for agent in material.agents if agent in block.agents)
    return ListCase(query, answers, (), 1, known)


def _presented(case: ListCase, sittings: Sequence[Sitting], shown: Shown) -> Iterator[ListCase]:
    """A block's list in each of its presentations."""
    earlier = Counter[tuple[tuple[str, ...], ...]]()
    for sitting in sittings:
        order = _order(case, sitting, shown)
        yield replace(case, shown=order, presentation=sitting.presentation, sample=AGAIN * earlier[order])
        earlier[order] += 1


def _order(case: ListCase, sitting: Sitting, shown: Shown) -> tuple[tuple[str, ...], ...]:
    """By place, the agents whose answer stands there."""
    seats: dict[str, list[str]] = {}
    answers = {answer.agent: answer for answer in case.answers}
    for agent in sitting.agents:
        if answers[agent].error is None:
            seats.setdefault(shown.answer(answers[agent]), []).append(agent)
    places = [tuple(sorted(agents)) for agents in seats.values()]
    return tuple(places[::-1] if sitting.turned else places)
