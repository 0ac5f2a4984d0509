"""The games of an experiment: every pair of answers in both orders, in one drawn for it, or those of adaptive play; or
lists of answers, ranked together: who sits in which (blocks), in which place (seats), and what each says of its pairs.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from math import ceil
from typing import Any

from ragassay.calls.caller import Caller
from ragassay.experiment.tables import JudgeSettings
from ragassay.files import digest_json
from ragassay.records import Assessment, Game, RankedList

from ..inputs.findings import Material
from .adaptive import all_pairs, chosen, chosen_lists
from .asked_again import relevant_by_wave
from .engine.cases import ORDERS, AnswerCase, GameCase, Judge, KnownRelevant, ListCase, Order
from .engine.evaluator import Evaluator
from .engine.rounds import complete, judged
from .judges.games import games_of
from .panel import Panel, shown_in_games

MOST_SEATS = 8
"""Answers in one list, at most."""

GROUP = MOST_SEATS // 2
"""Of more agents, at most so many in a group; two groups sit in a list."""

Pair = frozenset[str]
"""Two agents."""

Beside = Sequence[tuple[Evaluator, Sequence[AnswerCase]]]
"""Judges of answers, each with the answers it judges."""


class _Rounds:
    """What judges of games are asked round by round, with what is asked beside it in the first round."""

    def __init__(self, caller: Caller, beside: Beside) -> None:
        self.caller, self.waiting = caller, beside
        self.answers: list[Assessment] = []
        self.made: list[Any] = []

    def ask(self, given: Sequence[tuple[Judge[Any], Sequence[Any]]]) -> list[Any]:
        """What the judges of games say. Raises what the caller raises."""
        n = len(self.waiting)
        parts = judged([*self.waiting, *given], self.caller)
        self.waiting = ()
        self.answers += [row for part in parts[:n] for row in part]
        made = [row for part in parts[n:] for row in part]
        self.made += made
        return made


@dataclass(frozen=True)
class Played:
    """The games in the order of the file, what was judged beside them, what of the games was put to a judge, and the
    lists that they were read from, if any."""

    games: Sequence[Game]
    answers: Sequence[Assessment]
    asked: Sequence[GameCase | ListCase]
    lists: Sequence[RankedList] = ()


def play_pairs(
    material: Material,
    relevant: KnownRelevant,
    panels: Sequence[Panel],
    settings: JudgeSettings,
    caller: Caller,
    beside: Beside = (),
) -> Played:
    """Every game of two agents by each judge, in both orders or the one drawn, or what adaptive play meets with.

    beside: what is asked in the first round together with the games.
    Raises what the caller raises, and InputError where a prompt cannot be filled.
    """
    cases: Sequence[GameCase] = list(game_cases(material, relevant))
    if settings.orders == 1:
        cases = [case for case in cases if case.first == _drawn(case, settings.seed)]
    rounds = _Rounds(caller, beside)

    def play(some: Sequence[GameCase]) -> list[Game]:
        by_order = {first: [case for case in some if case.first == first] for first in ORDERS}
        return rounds.ask([(panel.games[first], by_order[first]) for panel in panels for first in ORDERS])

    if settings.games == "adaptive":
        cases = chosen(cases, material, settings, play)
    if settings.games == "all" or rounds.waiting:  # a single agent plays nothing
        play(cases)
    owed = [row for case in cases for panel in panels for row in panel.games[case.first].owed(case)]
    unsettled = [case for case in cases if panels[0].games[case.first].settled(case) is None]
    return Played(complete(owed, rounds.made), rounds.answers, unsettled)


def _drawn(case: GameCase, seed: int) -> Order:
    """Whose answer is shown first where a pair is judged in one order: either as likely, whoever plays besides."""
    one, other = sorted((case.a.agent, case.b.agent))
    heads = int(digest_json([seed, case.query.id, one, other])[:8], 16) % 2 == 0
    return "a" if heads == (case.a.agent == one) else "b"


def game_cases(material: Material, relevant: KnownRelevant) -> Iterator[GameCase]:
    """Every order of every game there is, by query, pair, and whose answer is first; none of two agents told before,
    and none of one that was not asked."""
    known = relevant_by_wave(material, relevant)
    for query in material.queries:
        told = material.told.get(query.id, frozenset())
        for a, b in all_pairs(material.asked(query.id)):
            if {a, b} <= told:
                continue
            answers = material.answers[query.id, a], material.answers[query.id, b]
            shown = known[material.wave_of(a, b)].get(query.id, ())
            for first in ORDERS:
                yield GameCase(query, *answers, first, shown)


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
    rounds = _Rounds(caller, beside)

    def play(some: Sequence[ListCase]) -> list[Game]:
        to_rank = [case for case in some if case.asked]
        by_judge = [(judge, number) for panel in panels for number, judge in panel.lists.items()]
        given = [(judge, [case for case in to_rank if case.presentation == number]) for judge, number in by_judge]
        return _games(some, rounds.ask(given), panels)

    if settings.games == "listwise-adaptive":
        cases = chosen_lists(cases, material, settings, play)
    if settings.games == "listwise" or rounds.waiting:  # a single agent plays nothing
        play(cases)
    games, lists = _games(cases, rounds.made, panels), _complete(cases, rounds.made, panels)
    return Played(games, rounds.answers, [case for case in cases if case.asked], lists)


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
    shown, (queries, *more) = shown_in_games(settings), material.drawn_for
    plan = Plan(material.waves, queries, settings.anchors, settings.seed, more)
    known, turn = relevant_by_wave(material, relevant), turns(queries, f"{settings.seed}:presentations", more)
    for query in material.queries:
        blocks = plan.blocks(query.id)
        for number, block in enumerate(blocks):
            there = [agent for agent in material.asked(query.id) if agent in block.agents]
            answers = {agent: material.answers[query.id, agent] for agent in there}
            case = ListCase(query, tuple(answers.values()), (), 1, known[block.wave].get(query.id, ()))
            if len(blocks) > 1:
                case = replace(case, pairs=block.pairs, block=number + 1)
            earlier = Counter[tuple[tuple[str, ...], ...]]()
            for sitting in sittings(block.agents, turn[query.id] + number, settings.presentations):
                seats: dict[str, list[str]] = {}
                for agent in sitting.agents:
                    if agent in answers and answers[agent].error is None:
                        seats.setdefault(shown.answer(answers[agent]), []).append(agent)
                places = [tuple(sorted(agents)) for agents in seats.values()]
                order = tuple(places[::-1] if sitting.turned else places)
                yield replace(case, shown=order, presentation=sitting.presentation, sample=AGAIN * earlier[order])
                earlier[order] += 1


@dataclass(frozen=True)
class Block:
    """Agents that are ranked together, in an order that seats go by, and the pairs whose games are taken from it.

    wave: with which, from 0, the last of them joined.
    """

    agents: tuple[str, ...]
    pairs: frozenset[Pair]
    wave: int


@dataclass(frozen=True)
class Plan:
    """Who meets whom over the queries. waves: the agents in the order in which they joined. anchors: how many of those
    before an agent that joins later meets on a query. more: queries that came later (`turns`). It hangs on the names
    and the seed alone.

    Up to eight agents sit in one list. More are split into groups of at most four, drawn anew for each query, and every
    two groups are a block: a balanced incomplete block design of the groups, blocks of two (Cochran and Cox,
    Experimental Designs, 1957, chapter 11), in which each group is put in its place; of the agents it is a singular
    group divisible design (Bose and Connor, Annals of Mathematical Statistics 23, 1952). Two agents of different groups
    meet in one block, two of a group in every block of it, of which one, drawn, is the pair's home: its game is taken
    from there alone. Agents that join later sit with anchors, agents of the waves before in turn, and only pairs with
    one of them are taken from such a list.
    """

    waves: Sequence[Sequence[str]]
    queries: Sequence[str]
    anchors: int
    seed: int
    more: Sequence[Sequence[str]] = ()

    def blocks(self, query: str) -> list[Block]:
        """Those of a query, wave by wave: every pair that meets on it is taken from exactly one of them."""
        found = self._together(query, 0)
        for wave in range(1, len(self.waves)):
            before = self._shuffled((agent for agents in self.waves[:wave] for agent in agents), f"anchors:{wave}")
            n = min(self.anchors, len(before))
            start = n * self._turns[wave][query]  # each of them equally often, as nearly as can be
            beside = [before[(start + number) % len(before)] for number in range(n)]
            room = MOST_SEATS - len(beside)
            groups = [self._shuffled(self.waves[wave], "seats")]
            if len(groups[0]) > room:
                groups = _parts(self._shuffled(self.waves[wave], f"newcomers:{wave}:{query}"), room)
                found += self._together(query, wave)
            for group in groups:  # newcomers among themselves, each with the anchors, in as few lists as hold them
                pairs = {frozenset(pair) for pair in product(group, beside)}
                if len(groups) == 1:
                    pairs |= _pairs(group)
                found.append(Block((*group, *beside), frozenset(pairs), wave))
        return found

    def _together(self, query: str, wave: int) -> list[Block]:
        """The agents of a wave among themselves."""
        if len(self.waves[wave]) <= MOST_SEATS:
            names = self._shuffled(self.waves[wave], "seats")
            return [Block(tuple(names), _pairs(names), wave)]
        groups = _parts(self._shuffled(self.waves[wave], f"blocks:{wave}:{query}"), GROUP)
        meetings = list(combinations(range(len(groups)), 2))
        pairs = [{frozenset(pair) for pair in product(groups[one], groups[other])} for one, other in meetings]
        luck = random.Random(f"{self.seed}:homes:{wave}:{query}")
        for number, group in enumerate(groups):
            homes = [place for place, meeting in enumerate(meetings) if number in meeting]
            for pair in combinations(group, 2):
                pairs[luck.choice(homes)].add(frozenset(pair))
        return [
            Block((*groups[one], *groups[other]), frozenset(taken), wave)
            for (one, other), taken in zip(meetings, pairs, strict=True)
        ]

    @cached_property
    def _turns(self) -> list[dict[str, int]]:
        """By wave, where each query stands in an order of its own."""
        return [turns(self.queries, f"{self.seed}:turns:{wave}", self.more) for wave, _ in enumerate(self.waves)]

    def _shuffled(self, names: Iterable[str], what: str) -> list[str]:
        """In an order that hangs on the seed and what it is for."""
        order = sorted(names)
        random.Random(f"{self.seed}:{what}").shuffle(order)
        return order


def _parts(names: Sequence[str], most: int) -> list[list[str]]:
    """As few as hold at most so many each, as equal as can be."""
    n = ceil(len(names) / most)
    return [list(names[len(names) * part // n : len(names) * (part + 1) // n]) for part in range(n)]


def _pairs(names: Sequence[str]) -> frozenset[Pair]:
    return frozenset(frozenset(pair) for pair in combinations(names, 2))


@dataclass(frozen=True)
class Sitting:
    """One list of a query: its presentation, from 1; who sits in it, by place; whether it is read from the last place
    to the first."""

    presentation: int
    agents: tuple[str, ...]
    turned: bool


def turns(queries: Sequence[str], seed: str, more: Sequence[Sequence[str]] = ()) -> dict[str, int]:
    """The place of each query, from 0, in an order that hangs on the queries' names and the seed alone.

    more: those that came later, group by group, behind the others; a group changes nothing in those before.
    """
    places, luck = dict[str, int](), random.Random(seed)
    for group in (queries, *more):
        order = sorted(group)
        luck.shuffle(order)
        places |= {query: place for place, query in enumerate(order, len(places))}
    return places


def sittings(agents: Sequence[str], turn: int, presentations: int) -> list[Sitting]:
    """The lists of agents on one query, in the order of their presentations.

    A query's row is of a Williams square, by its turn: its place in a seeded order of all. So over the queries each
    agent stands equally often in each place and each pair equally often in either order, as nearly as their number
    allows. An even presentation is the one before it from the last place to the first; the next odd one is another row.
    Over the turns the first of `agents` is where the first row has its 0, and so on.
    """
    rows = williams(len(agents))
    return [
        Sitting(number + 1, tuple(agents[seat] for seat in rows[(turn + number // 2) % len(rows)]), number % 2 == 1)
        for number in range(presentations)
    ]


def williams(n: int) -> list[tuple[int, ...]]:
    """Rows of the numbers below `n`, n of them, or 2 n where it is odd; the reverse of a row stands half of them on.

    Each number stands equally often in each place, and equally often right behind each other one (Williams, Australian
    Journal of Scientific Research A 2, 1949; of an odd number two squares).
    """
    zigzag = [(place + 1) // 2 if place % 2 else (n - place // 2) % n for place in range(n)]
    square = [tuple((number + row) % n for number in zigzag) for row in range(n)]
    return square if n % 2 == 0 else [*square, *(row[::-1] for row in square)]
