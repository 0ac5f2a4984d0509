"""The second judge asked: about a share of what the first judged, in one round, shown what the first was shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from shutil import rmtree
from typing import Any

from ragassay.calls.caller import Caller
from ragassay.experiment.workspace import Workspace
from ragassay.files import write_records
from ragassay.records import Game, Judgment

from ..inputs.findings import Findings
from ..inputs.labels import GAME, Key
from ..judging.engine.cases import QueryCase
from ..judging.engine.judge import Judge
from ..judging.engine.rounds import judged
from ..judging.evidence import KnownRelevant
from ..judging.games.played import game_cases
from ..judging.judges.relevance import CRITERION
from ..judging.panel import Panel, second_panel
from ..judging.same_text import ask_once
from ..ratings.panel_verdicts import panel_verdicts
from ..ratings.verdicts import verdicts
from .sheet import Drawn, draw_share


@dataclass(frozen=True)
class Asked:
    """What the second judge could have been asked about, and its records of what was drawn; empty without one."""

    frame: tuple[Drawn, ...] = ()
    relevance: tuple[Judgment, ...] = ()
    pointwise: tuple[Judgment, ...] = ()
    games: tuple[Game, ...] = ()

    @property
    def judgments(self) -> tuple[Judgment, ...]:
        """Of passages and answers."""
        return (*self.relevance, *self.pointwise)


def ask_second(
    workspace: Workspace, findings: Findings, cases: Sequence[QueryCase], relevant: KnownRelevant, caller: Caller
) -> Asked:
    """Draw and ask, where the experiment has a second judge. Raises what the caller raises, and InputError.

    cases: every query, its answers with what was found relevant. A drawn game is asked in both orders, as a pair,
    however the first judge compared the answers.
    """
    settings, k = workspace.experiment.judge, workspace.experiment.retrieval.k
    if settings.second is None:
        return Asked()
    panel, found = second_panel(workspace), panel_verdicts(verdicts(findings.games), settings.models)
    share, seed = settings.second_share, settings.seed
    frame = draw_share(findings, found, settings.criteria, k, share=share, seed=seed)
    keys = {row.key for row in frame if row.drawn}
    once = ask_once([_drawn(cases, keys)])
    answers, games = _given(panel, findings, cases, relevant, keys)
    made = judged([panel.passages(once.waves[0]), *answers, *games], caller)
    of_answers = [row.judgment() for rows in made[1 : 1 + len(answers)] for row in rows]
    return Asked(
        frame,
        tuple(sorted((row.judgment() for row in once.of_all(made[0])), key=_place)),
        tuple(sorted(of_answers, key=_place)),
        tuple(row for rows in made[1 + len(answers) :] for row in rows),
    )


def write_second(workspace: Workspace, asked: Asked) -> None:
    """Its files; without a second judge those of an earlier run go."""
    if workspace.experiment.judge.second is None:
        rmtree(workspace.second, ignore_errors=True)
        return
    write_records(workspace.second_drawn, asked.frame)
    write_records(workspace.second_relevance, asked.relevance)
    write_records(workspace.second_pointwise, asked.pointwise)
    write_records(workspace.second_games, asked.games)


Given = tuple[Judge[Any], Sequence[Any]]


def _drawn(cases: Sequence[QueryCase], keys: set[Key]) -> list[QueryCase]:
    """The queries with the passages that were drawn, without those of which none was."""
    pools = [
        replace(case, passages=tuple(one for one in case.passages if (case.query.id, one.id, CRITERION) in keys))
        for case in cases
    ]
    return [case for case in pools if case.passages]


def _given(
    panel: Panel, findings: Findings, cases: Sequence[QueryCase], relevant: KnownRelevant, keys: set[Key]
) -> tuple[list[Given], list[Given]]:
    """Who is asked about which answers and games."""
    answered = {key[:2] for key in keys}
    answers = [one for case in cases for one in case.answers if (case.query.id, one.subject) in answered]
    games = [
        game
        for game in game_cases(findings.material, relevant)
        if (game.query.id, ":".join(sorted((game.a.agent, game.b.agent))), GAME) in keys
    ]
    return (
        [(judge, answers) for judge in panel.pointwise],
        [(judge, [game for game in games if game.first == first]) for first, judge in panel.games.items()],
    )


def _place(row: Judgment) -> tuple[str, str]:
    return row.query_id, row.subject
