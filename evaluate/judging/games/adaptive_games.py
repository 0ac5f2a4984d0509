"""Adaptive play of an experiment's games: which of them all are played, found by playing them round by round."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from ragassay.experiment.judge_settings import JudgeSettings
from ragassay.records import Game

from ...inputs.material import Material
from ...inputs.sections import source_clusters
from ...ratings.panel_verdicts import panel_verdicts
from ...ratings.verdicts import SCORES, verdicts
from ..engine.cases import GameCase
from .pairings import Meeting, adaptive_meetings

PlayGames = Callable[[Sequence[GameCase]], Sequence[Game]]
"""Judges games, or says why they cannot be, in any order."""


def chosen(cases: Sequence[GameCase], material: Material, settings: JudgeSettings, play: PlayGames) -> list[GameCase]:
    """Those of `cases` that adaptive play meets with, in their order and always in both orders.

    Raises what `play` raises; a later run that finds the replies to what was asked goes the same way, and on.
    """
    games: dict[Meeting, list[GameCase]] = defaultdict(list)
    for case in cases:
        games[_meeting(case)].append(case)

    def scores(meetings: Sequence[Meeting]) -> list[float | None]:
        rows: dict[Meeting, list[Game]] = defaultdict(list)
        for row in play([case for meeting in meetings for case in games[meeting]]):
            rows[row.query_id, (row.agent_a, row.agent_b)].append(row)
        return [_score(rows[meeting], settings.models) for meeting in meetings]

    met = adaptive_meetings(
        material.agents,
        [query.id for query in material.queries],
        source_clusters(material.queries),
        scores,
        settings.seed,
        settings.adaptive_confidence,
        settings.adaptive_max_games,
    )
    return [case for case in cases if _meeting(case) in met]


def _meeting(case: GameCase) -> Meeting:
    return case.query.id, (case.a.agent, case.b.agent)


def _score(rows: Sequence[Game], judges: Sequence[str]) -> float | None:
    """The first agent's score by both orders together, of several judges by the majority; None where one failed."""
    [one] = panel_verdicts(verdicts(rows), judges)
    winner = one.winner
    return None if winner is None else SCORES[winner]
