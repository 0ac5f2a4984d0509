"""The same from a table of labels from elsewhere: a column of people's labels, and columns of judges' numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragassay.errors import InputError
from ragassay.text import plain

from ..confusion import spelt
from ..label_tables import LabelTable, Ratings, ratings
from ..scale import make_scale
from .scored import Scored


def scored_table(
    table: LabelTable,
    human: str,
    judges: Sequence[str],
    by: str | None,
    *,
    relevant: str | None = None,
    threshold: float | None = None,
) -> list[Scored]:
    """One for each column of a judge's numbers, of the rows that people labelled.

    relevant: people's lowest label that is a yes (of words, the only one), as `make_scale` has it. threshold: the
    judge's at present; by default 0.5 of shares between 0 and 1, else as for people's labels. Raises InputError as
    `ratings` does, for a judge's column of words, and where either of the two is not known.
    """
    if human in judges:
        problem = f"column '{plain(human)}' is named twice, and one rater has nothing to agree with"
        raise InputError(problem, file=table.file, remedy="name the people's column and the judge's")
    people = ratings(table, [human], by)
    scale = make_scale(people, (), relevant)
    if scale.relevant is None:
        raise InputError("which of people's labels are a yes is not known", file=table.file, remedy="give --relevant")
    words = f"from {spelt(scale.relevant)}" if scale.ordered else spelt(scale.relevant)
    places = scale.numbers(people.labels[0])
    yes = [None if place is None else scale.positive[place] for place in places]
    return [_scored(ratings(table, [judge], by), people, yes, words, threshold) for judge in judges]


def _scored(
    judged: Ratings, people: Ratings, yes: Sequence[bool | None], words: str, threshold: float | None
) -> Scored:
    (judge,) = judged.raters
    numbers = [label if isinstance(label, float) else None for label in judged.labels[0]]
    if not judged.numeric:
        problem = f"column '{plain(judge)}' holds words, and a threshold is put on numbers"
        raise InputError(problem, file=judged.file, remedy="give the column of the judge's numbers")
    present = threshold if threshold is not None else _usual(judged, [value for value in numbers if value is not None])
    rows = [row for row, label in enumerate(yes) if label is not None]
    score = tuple(numbers[row] for row in rows)
    return Scored(
        file=Path(judged.file).name,
        criterion=people.raters[0],
        judge=judge,
        on=judge,
        relevant=words,
        people=tuple(bool(yes[row]) for row in rows),
        now=tuple(None if value is None else value >= present for value in score),
        score=score,
        clusters=tuple(people.clusters[row] for row in rows),
        whole=all(value is None or value % 1 == 0 for value in numbers),
        present=present,
    )


def _usual(judged: Ratings, numbers: Sequence[float]) -> float:
    """Where a yes begins at present, as far as it goes without saying."""
    if min(numbers) >= 0 and max(numbers) <= 1 and any(value % 1 for value in numbers):
        return 0.5
    least = make_scale(judged).relevant
    if not isinstance(least, float):
        problem = f"from where on '{plain(judged.raters[0])}' is a yes at present is not known"
        raise InputError(problem, file=judged.file, remedy="give --threshold")
    return least
