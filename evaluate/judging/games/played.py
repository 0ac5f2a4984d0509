"""The games of an experiment: every pair of answers in both orders, or those of adaptive play."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ragassay.calls.caller import Caller
from ragassay.experiment.settings import JudgeSettings
from ragassay.records import Game, Judgment

from ...inputs.material import Material
from ..engine.cases import ORDERS, Evidence, GameCase
from ..engine.rounds import complete, judged
from ..judges.relevance import VERY_RELEVANT
from ..panel import Panel
from .adaptive_games import chosen
from .pairings import all_pairs


def play_games(
    cases: Sequence[GameCase], material: Material, panel: Panel, settings: JudgeSettings, caller: Caller
) -> list[Game]:
    """A record for each of `cases`, in their order, or for those that adaptive play meets with.

    Raises what the caller raises, and InputError where the prompt cannot be filled.
    """
    rows: list[Game] = []

    def play(some: Sequence[GameCase]) -> list[Game]:
        by_order = [(panel.games[first], [case for case in some if case.first == first]) for first in ORDERS]
        made = [row for part in judged(by_order, caller) for row in part]
        rows.extend(made)
        return made

    if settings.games == "adaptive":
        cases = chosen(cases, material, settings, play)
    else:
        play(cases)
    return complete([row for case in cases for row in panel.games[case.first].owed(case)], rows)


def game_cases(material: Material, relevance: Sequence[Judgment]) -> Iterator[GameCase]:
    """Every order of every game there is: by query, pair, and whose answer is first."""
    evidence: dict[str, list[Evidence]] = defaultdict(list)
    for judgment in relevance:
        if judgment.label == VERY_RELEVANT:
            evidence[judgment.query_id].append(Evidence(material.passages[judgment.subject], judgment.reason))
    for query in material.queries:
        known = tuple(evidence[query.id])
        for a, b in all_pairs(material.agents):
            answers = material.answers[query.id, a], material.answers[query.id, b]
            for first in ORDERS:
                yield GameCase(query, *answers, first, known)


def asked_of(panel: Panel, cases: Sequence[GameCase], games: Sequence[Game]) -> list[GameCase]:
    """Those of `cases` that are among the games and were put to a judge."""
    played = {(game.query_id, game.agent_a, game.agent_b, game.first) for game in games}
    return [
        case
        for case in cases
        if (case.query.id, case.a.agent, case.b.agent, case.first) in played
        and panel.games[case.first].settled(case) is None
    ]
