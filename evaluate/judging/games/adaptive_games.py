"""Adaptive play of an experiment's games: which of all pairings are played, found by playing them round by round."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from ragassay.experiment.settings import JudgeSettings
from ragassay.records import Game

from ...inputs.material import Material
from ...inputs.sections import source_sections
from ...ratings.verdicts import verdict
from ..judges.pairwise import Pairing
from .pairings import Meeting, adaptive_meetings

_SCORE = {"a": 1.0, "tie": 0.5, "b": 0.0}

PlayGames = Callable[[Sequence[Pairing]], Sequence[Game]]
"""Judges pairings, or says why they cannot be, in any order."""


def chosen(pairings: Sequence[Pairing], material: Material, settings: JudgeSettings, play: PlayGames) -> list[Pairing]:
    """Those of `pairings` that adaptive play meets with, in their order and always in both orders.

    Raises what `play` raises; a later run that finds the replies to what was asked goes the same way, and on.
    """
    games: dict[Meeting, list[Pairing]] = defaultdict(list)
    for pairing in pairings:
        games[_meeting(pairing)].append(pairing)

    def scores(meetings: Sequence[Meeting]) -> list[float | None]:
        rows: dict[Meeting, list[Game]] = defaultdict(list)
        for row in play([pairing for meeting in meetings for pairing in games[meeting]]):
            rows[row.query_id, (row.agent_a, row.agent_b)].append(row)
        return [_score(rows[meeting]) for meeting in meetings]

    met = adaptive_meetings(
        material.agents,
        [query.id for query in material.queries],
        source_sections(material.queries),
        scores,
        settings.seed,
        settings.adaptive_confidence,
        settings.adaptive_max_games,
    )
    return [pairing for pairing in pairings if _meeting(pairing) in met]


def _meeting(pairing: Pairing) -> Meeting:
    return pairing.query.id, (pairing.a.agent, pairing.b.agent)


def _score(rows: Sequence[Game]) -> float | None:
    """The first agent's score by both orders together; None where one failed."""
    one, other = rows
    winner = verdict(one, other).winner
    return None if winner is None else _SCORE[winner]
