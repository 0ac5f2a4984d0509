"""The games of an experiment: every pair of answers in both orders, in one drawn for it, or those of adaptive play."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ragassay.calls.caller import Caller
from ragassay.digests import digest_json
from ragassay.experiment.judge_settings import JudgeSettings
from ragassay.records import Assessment, Game, RankedList

from ...inputs.material import Material
from ..engine.cases import ORDERS, AnswerCase, GameCase, ListCase, Order
from ..engine.evaluator import Evaluator
from ..engine.judge import Judge
from ..engine.rounds import complete, judged
from ..evidence import KnownRelevant
from ..panel import Panel
from ..waves import relevant_by_wave
from .adaptive_games import chosen
from .pairings import all_pairs

Beside = Sequence[tuple[Evaluator, Sequence[AnswerCase]]]
"""Judges of answers, each with the answers it judges."""


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
    rows: list[Game] = []
    answers: list[Assessment] = []
    waiting: list[tuple[Judge[Any], Sequence[Any]]] = list(beside)

    def play(some: Sequence[GameCase]) -> list[Game]:
        asked: list[tuple[Judge[Any], Sequence[Any]]] = [*waiting]
        for panel in panels:
            asked += [(panel.games[first], [case for case in some if case.first == first]) for first in ORDERS]
        parts = judged(asked, caller)
        answers.extend(row for part in parts[: len(waiting)] for row in part)
        made = [row for part in parts[len(waiting) :] for row in part]
        waiting.clear()
        rows.extend(made)
        return made

    if settings.games == "adaptive":
        cases = chosen(cases, material, settings, play)
    if settings.games == "all" or waiting:  # a single agent plays nothing
        play(cases)
    owed = [row for case in cases for panel in panels for row in panel.games[case.first].owed(case)]
    unsettled = [case for case in cases if panels[0].games[case.first].settled(case) is None]
    return Played(complete(owed, rows), answers, unsettled)


def _drawn(case: GameCase, seed: int) -> Order:
    """Whose answer is shown first where a pair is judged in one order: either as likely, whoever plays besides."""
    one, other = sorted((case.a.agent, case.b.agent))
    heads = int(digest_json([seed, case.query.id, one, other])[:8], 16) % 2 == 0
    return "a" if heads == (case.a.agent == one) else "b"


def game_cases(material: Material, relevant: KnownRelevant) -> Iterator[GameCase]:
    """Every order of every game there is: by query, pair, and whose answer is first."""
    known = relevant_by_wave(material, relevant)
    for query in material.queries:
        for a, b in all_pairs(material.agents):
            answers = material.answers[query.id, a], material.answers[query.id, b]
            shown = known[material.wave_of(a, b)].get(query.id, ())
            for first in ORDERS:
                yield GameCase(query, *answers, first, shown)
