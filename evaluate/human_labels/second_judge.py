"""A dear judge for what a cheap one is unsure of: drawn with known probabilities, its labels take people's place.

The cheap judge labels everything. Of that a sample is drawn as for a sheet (`sheet.draw_frame`), what the cheap judge
was unsure of up to three times as often, and the dear judge is asked about the sample alone. `correct_figures` then
says what the dear judge would have said of everything, as it says it of people: only as good as the dear judge is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragassay.records import Judgment

from ..inputs.labels import GAME, Key, Label
from ..ratings.verdicts import SCORES, Verdict
from .corrections import People
from .sheet import Drawn, inclusion


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
    said |= {(one.query_id, f"{one.agent_a}:{one.agent_b}", GAME): (one.judge, _score(one)) for one in verdicts}
    asked = [row.key for row in frame if row.drawn]
    labels = [label for key in asked if (label := _label(key, said)) is not None]
    return SecondJudge(People(tuple(labels), inclusion([frame])), len(asked), len(asked) - len(labels))


def _score(verdict: Verdict) -> float | None:
    return None if verdict.winner is None else SCORES[verdict.winner]


def _label(key: Key, said: Mapping[Key, tuple[str, float | None]]) -> Label | None:
    judge, label = said.get(key, ("", None))
    if label is None:
        return None
    return Label(who=judge, when="", query=key[0], subject=key[1], criterion=key[2], label=label)
