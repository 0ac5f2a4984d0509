"""A dear judge for what a cheap one is unsure of: drawn with known probabilities, its labels take people's place.

The cheap judge labels everything. Of that a sample is drawn as for a sheet (`sheet.draw_frame`), what the cheap judge
was unsure of up to three times as often, and the dear judge is asked about the sample alone. `correct_figures` then
says what the dear judge would have said of everything, as it says it of people: only as good as the dear judge is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from shutil import rmtree
from typing import Any

from ragassay.calls.caller import Caller
from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, write_records
from ragassay.records import Assessment, Game, Judgment

from ..inputs.findings import Findings
from ..inputs.labels import GAME, Key, Label
from ..judging.asked_again import ask_once
from ..judging.engine.cases import Judge, KnownRelevant, QueryCase
from ..judging.engine.rounds import judged
from ..judging.games import game_cases
from ..judging.judges.relevance import CRITERION
from ..judging.panel import second_panel
from ..ratings.verdicts import SCORES, Verdict, panel_verdicts, verdicts
from ..results import Corrections
from ..statistics.ppi import FEWEST_CLUSTERS
from .corrections import People
from .sheet import Drawn, draw_share, inclusion


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
    pools = [
        replace(case, passages=tuple(one for one in case.passages if (case.query.id, one.id, CRITERION) in keys))
        for case in cases
    ]
    once, answered = ask_once([[case for case in pools if case.passages]]), {key[:2] for key in keys}
    answers = [one for case in cases for one in case.answers if (case.query.id, one.subject) in answered]
    games = [
        game
        for game in game_cases(findings.material, relevant)
        if (game.query.id, ":".join(sorted((game.a.agent, game.b.agent))), GAME) in keys
    ]
    orders = [(judge, [game for game in games if game.first == first]) for first, judge in panel.games.items()]
    asked: list[tuple[Judge[Any], Sequence[Any]]] = [
        panel.passages(once.waves[0]),
        *((judge, answers) for judge in panel.pointwise),
        *orders,
    ]
    made = judged(asked, caller)
    n = 1 + len(panel.pointwise)

    def sorted_rows(rows: Iterable[Assessment]) -> tuple[Judgment, ...]:
        return tuple(sorted((row.judgment() for row in rows), key=lambda row: (row.query_id, row.subject)))

    return Asked(
        frame,
        sorted_rows(once.of_all(made[0])),
        sorted_rows(row for rows in made[1:n] for row in rows),
        tuple(row for rows in made[n:] for row in rows),
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


@dataclass(frozen=True)
class SecondJudge:
    """What the dear judge said of the things drawn, for `correct_figures`; n_asked of them, of which n_failed failed.

    What failed, and what it has no record of, has no label, and the others weigh for it.
    """

    people: People
    n_asked: int
    n_failed: int


def second_labels(
    frame: Sequence[Drawn], judgments: Iterable[Judgment], verdicts: Iterable[Verdict] = ()
) -> SecondJudge:
    """The dear judge's labels of what `frame` drew, with the probabilities of the draw.

    judgments: its records of passages and answers; verdicts: on games, each from both orders. What was not drawn takes
    no part, whatever it said of it.
    """
    said: dict[Key, tuple[str, float | None]] = {
        (row.query_id, row.subject, row.criterion): (row.judge, row.label) for row in judgments
    }
    for one in verdicts:
        score = None if one.winner is None else SCORES[one.winner]
        said[one.query_id, f"{one.agent_a}:{one.agent_b}", GAME] = one.judge, score
    asked, labels = [row.key for row in frame if row.drawn], []
    for query, subject, criterion in asked:
        judge, label = said.get((query, subject, criterion), ("", None))
        if label is not None:
            labels.append(Label(who=judge, when="", query=query, subject=subject, criterion=criterion, label=label))
    return SecondJudge(People(tuple(labels), inclusion([frame])), len(asked), len(asked) - len(labels))


def read_second(workspace: Workspace) -> SecondJudge | None:
    """What the second judge of an experiment said; None without one. Raises InputError with the file."""
    if workspace.experiment.judge.second is None:
        return None
    if not workspace.second_drawn.exists():
        remedy = "run `ragassay judge` again"
        raise InputError("is not there: the second judge was not asked", file=workspace.second_drawn, remedy=remedy)
    files = (workspace.second_relevance, workspace.second_pointwise)
    rows = [row for path in files for row in read_records(path, Judgment)]
    games = verdicts(read_records(workspace.second_games, Game))
    return second_labels(read_records(workspace.second_drawn, Drawn), rows, games)


def notes_of_second(corrected: Corrections) -> tuple[str, ...]:
    """What is to be said of the labels as a whole: where they are too few to correct anything."""
    if any(figure.corrected.value is not None for figure in corrected.figures):
        return ()
    return (f"too few labels to correct anything: each figure needs them on {FEWEST_CLUSTERS} queries or sections",)
