"""Asking again: a part of the judgments word for word, to see how well the judge agrees with itself."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

from ragassay.calls.caller import Caller
from ragassay.experiment.settings import JudgeSettings
from ragassay.files import write_records
from ragassay.records import Game, Judgment, Repeat

from .engine.reply import Docket, ask
from .judges.pairwise import Pairing
from .judges.pointwise import Answered
from .judges.relevance import Pooled
from .panel import Panel

Case = TypeVar("Case")

SCORES = {"a": 1.0, "tie": 0.5, "b": 0.0}
NO_REPEATS = "nothing was asked again (judge.repeats): with token probabilities a repeat gives the same reply"


def judge_again(
    panel: Panel,
    settings: JudgeSettings,
    pooled: Sequence[Pooled],
    answered: Sequence[Answered],
    pairings: Sequence[Pairing],
    caller: Caller,
) -> list[Repeat]:
    """`repeat_share` of the passages, of the answers and of the games (each in both orders), `repeats` times over.

    All in one round; nothing for a judge that gives probabilities, which has no other reply to give.
    """
    if not settings.repeats or panel.relevance.tokens:
        return []
    passages, answers = drawn(pooled, settings, "passages"), drawn(answered, settings, "answers")
    games = set(drawn(sorted({_game(p) for p in pairings}), settings, "games"))
    replayed = [p for p in pairings if _game(p) in games]
    dockets: list[Docket[Any, Judgment] | Docket[Any, Game]] = []
    for sample in range(1, settings.repeats + 1):
        dockets.append(Docket(panel.relevance, passages, sample))
        dockets += [Docket(judge, answers, sample) for judge in panel.pointwise]
        dockets.append(Docket(panel.first_a, [p for p in replayed if p.first == "a"], sample))
        dockets.append(Docket(panel.first_b, [p for p in replayed if p.first == "b"], sample))
    rows: list[list[Judgment | Game]] = ask(caller, dockets)  # type: ignore[misc]  # two kinds of rows in one round
    return [repeat_of(row, docket.sample) for docket, part in zip(dockets, rows, strict=True) for row in part]


def _game(pairing: Pairing) -> tuple[str, str, str]:
    return pairing.query.id, pairing.a.agent, pairing.b.agent


def write_repeats(path: Path, rows: Sequence[Repeat]) -> None:
    """The file is there only where something was asked again."""
    if rows:
        write_records(path, rows)
    else:
        path.unlink(missing_ok=True)


def drawn(cases: Sequence[Case], settings: JudgeSettings, kind: str) -> list[Case]:
    """`repeat_share` of the cases, rounded up, in their order; seeded."""
    count = ceil(round(settings.repeat_share * len(cases), 9))
    chosen = random.Random(f"{settings.seed}:repeats:{kind}").sample(range(len(cases)), count)
    return [cases[index] for index in sorted(chosen)]


def repeat_of(row: Judgment | Game, sample: int) -> Repeat:
    """The record of one repeat."""
    if isinstance(row, Judgment):
        return Repeat(**row.model_dump(), sample=sample)
    return Repeat(
        query_id=row.query_id,
        subject=f"{row.agent_a}:{row.agent_b}",
        judge=row.judge,
        criterion=f"game-first-{row.first}",
        label=None if row.winner is None else SCORES[row.winner],
        reason=row.reason,
        error=row.error,
        probability=row.probability,
        sample=sample,
    )
