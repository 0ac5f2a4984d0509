"""Asking again: a part of the judgments word for word, to see how well the judge agrees with itself."""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

from ragassay.calls.caller import Caller
from ragassay.experiment.judge_settings import JudgeSettings
from ragassay.files import write_records
from ragassay.models.requests import Reply, Request
from ragassay.records import Game, Judgment, RankedList, Record, Repeat

from ..ratings.verdicts import SCORES
from .engine.cases import GameCase, ListCase, QueryCase
from .engine.judge import Judge, StepsTo
from .engine.rounds import judged, units
from .panel import Panel
from .together.listwise import asked_games

Drawn = TypeVar("Drawn")
Asked = GameCase | ListCase
"""What a judge of games is asked about."""

NO_REPEATS = "nothing was asked again (judge.repeats): with token probabilities a repeat gives the same reply"


class AskedAgain(Judge[Repeat]):
    """A judge asked once more, word for word: its requests with a sample number, in batches of their own."""

    def __init__(self, asked_first: Judge[Any], sample: int) -> None:
        self.setup, self.asked_first, self.sample = asked_first.setup, asked_first, sample

    @property
    def batch_label(self) -> str:
        """The judge's own label with `-repeat-N`."""
        return f"{self.asked_first.batch_label}-repeat-{self.sample}"

    def label_of(self, asked: Sequence[Request]) -> str:
        """The same of the judge's label for these."""
        return f"{self.asked_first.label_of(asked)}-repeat-{self.sample}"

    def owed(self, case: Any) -> list[Repeat]:
        """A repeat of each of the judge's records; of a list, of each pair in it."""
        return self._repeats(case, self.asked_first.owed(case))

    def steps(self, case: Any) -> StepsTo[Repeat]:
        """The judge's own steps."""
        steps = self.asked_first.steps(case)
        assert isinstance(steps, Generator), "what asks no model is not asked again"
        replies: Sequence[Reply] | None = None
        while True:
            try:
                asked = steps.send(replies) if replies is not None else next(steps)
            except StopIteration as done:
                return self._repeats(case, done.value)
            replies = yield [replace(request, sample=request.sample + self.sample) for request in asked]

    def _repeats(self, case: Any, rows: Sequence[Any]) -> list[Repeat]:
        told = [one for row in rows for one in (_games_of(case, row) if isinstance(row, RankedList) else [row])]
        return [repeat_of(one, self.sample) for one in told]


def _games_of(case: ListCase, row: RankedList) -> list[Game]:
    """The list is kept nowhere else: its first game has its reason."""
    games = asked_games(case, row)
    return [game.model_copy(update={"reason": row.reason}) for game in games[:1]] + games[1:]


def judge_again(
    panels: Sequence[Panel],
    settings: JudgeSettings,
    waves: Sequence[Sequence[QueryCase]],
    games: Sequence[Sequence[Asked]],
    caller: Caller,
) -> list[Repeat]:
    """`repeat_share` of the passages (in their batches), of the answers and of the games (each in both orders, or a
    query's lists in all presentations), `repeats` times over, of each judge.

    All in one round; nothing of a judge that gives probabilities, which has no other reply to give. Each wave is drawn
    from by itself, so that one that joins later changes nothing in those before.
    waves: the queries with what each wave brings; games: by wave, those that a judge was asked about.
    """
    asked = [panel for panel in panels if panel.mode != "probability"] if settings.repeats else []
    given: list[tuple[Judge[Any], Sequence[Any]]] = []
    for panel in asked:
        for number, (cases, some) in enumerate(zip(waves, games, strict=True)):
            given += _of_wave(panel, settings, cases, some, f":{number}" if number else "")
    samples = range(1, settings.repeats + 1)
    made = judged([(AskedAgain(judge, sample), some) for sample in samples for judge, some in given], caller)
    return [row for rows in made for row in rows]


def _of_wave(
    panel: Panel, settings: JudgeSettings, cases: Sequence[QueryCase], games: Sequence[Asked], wave: str
) -> list[tuple[Judge[Any], Sequence[Any]]]:
    """What each judge is asked again; `wave` tells its draw from those of other waves."""
    grader, passages = panel.passages(cases)
    meetings = set(drawn(sorted({_meeting(game) for game in games}), settings, f"games{wave}"))
    replayed = [game for game in games if _meeting(game) in meetings]
    return [
        (grader, drawn(passages, settings, f"passages{wave}")),
        *((judge, drawn(units(judge, cases), settings, f"answers{wave}")) for judge in panel.pointwise),
        *((judge, [game for game in replayed if panel.judge_of(game) is judge]) for judge in panel.of_games),
    ]


def _meeting(game: Asked) -> tuple[str, ...]:
    return game.query.id, *agents_in(game)


def agents_in(game: Asked) -> tuple[str, ...]:
    """Whose answers are compared in it."""
    answers = (game.a, game.b) if isinstance(game, GameCase) else game.answers
    return tuple(answer.agent for answer in answers)


def write_if_any(path: Path, rows: Sequence[Record]) -> None:
    """The file is there only where it has rows; one of an earlier run goes."""
    if rows:
        write_records(path, rows)
    else:
        path.unlink(missing_ok=True)


def drawn(cases: Sequence[Drawn], settings: JudgeSettings, kind: str) -> list[Drawn]:
    """`repeat_share` of the cases, rounded up, in their order; seeded."""
    count = ceil(round(settings.repeat_share * len(cases), 9))
    chosen = random.Random(f"{settings.seed}:repeats:{kind}").sample(range(len(cases)), count)
    return [cases[index] for index in sorted(chosen)]


def repeat_of(row: Judgment | Game, sample: int) -> Repeat:
    """The record of one repeat."""
    if isinstance(row, Judgment):
        return Repeat(**row.model_dump(include=set(Judgment.model_fields)), sample=sample)
    return Repeat(
        query_id=row.query_id,
        subject=f"{row.agent_a}:{row.agent_b}",
        judge=row.judge,
        criterion=f"game-presentation-{row.presentation}" if row.presentation else f"game-first-{row.first}",
        label=None if row.winner is None else SCORES[row.winner],
        reason=row.reason,
        error=row.error,
        probability=row.probability,
        sample=sample,
    )
