"""A dear judge for what a cheap one is unsure of: drawn with known probabilities, its labels take people's place.

The cheap judge labels everything. Of that a sample is drawn as for a sheet (`sheet.draw_frame`), what the cheap judge
was unsure of up to three times as often, and the dear judge is asked about the sample alone. `correct_figures` then
says what the dear judge would have said of everything, as it says it of people: only as good as the dear judge is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Game, Judgment

from ..inputs.labels import GAME, Key, Label
from ..ratings.verdicts import SCORES, Verdict, verdicts
from ..results import Corrections
from ..statistics.corrected_mean import FEWEST_CLUSTERS
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


def read_second(workspace: Workspace) -> SecondJudge | None:
    """What the second judge of an experiment said; None without one. Raises InputError with the file."""
    if workspace.experiment.judge.second is None:
        return None
    if not workspace.second_drawn.exists():
        remedy = "run `ragassay judge` again"
        raise InputError("is not there: the second judge was not asked", file=workspace.second_drawn, remedy=remedy)
    rows = [row for path in (workspace.second_relevance, workspace.second_pointwise) for row in _judgments(path)]
    games = verdicts(read_records(workspace.second_games, Game))
    return second_labels(read_records(workspace.second_drawn, Drawn), rows, games)


def notes_of_second(corrected: Corrections) -> tuple[str, ...]:
    """What is to be said of the labels as a whole: where they are too few to correct anything."""
    if any(figure.corrected.value is not None for figure in corrected.figures):
        return ()
    return (f"too few labels to correct anything: each figure needs them on {FEWEST_CLUSTERS} queries or sections",)


def _judgments(path: Path) -> list[Judgment]:
    return read_records(path, Judgment)


def _score(verdict: Verdict) -> float | None:
    return None if verdict.winner is None else SCORES[verdict.winner]


def _label(key: Key, said: Mapping[Key, tuple[str, float | None]]) -> Label | None:
    judge, label = said.get(key, ("", None))
    if label is None:
        return None
    return Label(who=judge, when="", query=key[0], subject=key[1], criterion=key[2], label=label)
