"""Realism: do written questions look like people's, do they all begin alike, do they repeat people's?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ragassay.records import Figure, QuestionsCheck
from ragassay.text import plain

from ..inputs.clusters import clusters_of_rows
from ..screening.mean_figures import mean_figures
from .differences import group_difference
from .questions import Question, Reading, asked_by_people, written
from .records import NearCopy, Realism
from .told import FEWEST, above, shown

OPENING = 3
"""Words of a beginning (of a script without spaces: characters)."""
ALIKE, NOTABLE = 0.5, 0.2
"""A share of one beginning that is warned of without people's questions, and one that exceeds theirs by so much."""
NEAR = 0.8
"""Jaccard's index of content words from which on a question repeats another: 4 of 5 words."""


def realism(
    questions: Sequence[Question], experts: Sequence[str], check: QuestionsCheck | None, reading: Reading
) -> Realism:
    """Everything the page says of it. check: None where questions were not chosen to look like people's."""
    ours, people = written(questions), asked_by_people(questions, experts)
    if not ours:
        return Realism(abstained="No question was written by a model.")
    opening, figures = _openings(ours, people, reading)
    copies = _copies(ours, people, reading) if people else ()
    if people:
        copied = {copy.id for copy in copies}
        clusters = clusters_of_rows([q.cluster for q in ours])
        (figures["copies"],) = mean_figures(np.array([[float(q.id in copied) for q in ours]]), clusters)
    if people and reading.apart and (area := reading.apart(people, [q.text for q in ours])):
        figures["auc_with_meaning"] = area
    found = Realism(check=check, opening=opening, figures=figures, copies=copies)
    return found.model_copy(
        update={
            "said": tuple(_said(found)),
            "warnings": tuple(_warnings(found)),
            "abstained": " ".join(_unsaid(check, len(people))) or None,
        }
    )


def _openings(ours: Sequence[Question], people: Sequence[str], reading: Reading) -> tuple[str, dict[str, Figure]]:
    """The beginning that most written questions have, and its share; of people's, the share of theirs."""
    sides = [[_opening(text, reading) for text in texts] for texts in ([q.text for q in ours], people)]
    commonest = [Counter(side).most_common(1)[0][0] if side else "" for side in sides]
    values = np.array([[float(one == most) for side, most in zip(sides, commonest, strict=True) for one in side]])
    clusters = clusters_of_rows([*(q.cluster for q in ours), *(f"person {place}" for place, _ in enumerate(people))])
    mine = np.arange(values.shape[1]) < len(ours)
    found = {"opening": mean_figures(values[:, mine], clusters.where(mine))[0]}
    if people:
        found["real_opening"] = mean_figures(values[:, ~mine], clusters.where(~mine))[0]
        found["difference_opening"] = group_difference(values, mine, clusters).figures()[0]
    return commonest[0], found


def _opening(text: str, reading: Reading) -> str:
    return " ".join(reading.words(text)[:OPENING])


def _copies(ours: Sequence[Question], people: Sequence[str], reading: Reading) -> tuple[NearCopy, ...]:
    """The written questions that are nearly one of people's, the nearest first."""
    theirs = [(text, reading.content(text)) for text in people]
    found = []
    for question in ours:
        content = reading.content(question.text)
        nearest = max(theirs, key=lambda other: jaccard(content, other[1]))
        if (near := jaccard(content, nearest[1])) >= NEAR:
            found.append(NearCopy(id=question.id, text=question.text, real=nearest[0], similarity=round(near, 9)))
    return tuple(sorted(found, key=lambda copy: (-copy.similarity, copy.id)))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """What both have by what either has, 0 to 1; 0 of nothing."""
    return len(one & other) / len(one | other) if one | other else 0.0


def _unsaid(check: QuestionsCheck | None, n_people: int) -> Iterator[str]:
    if not n_people:
        yield "There are no people's questions (questions.txt) to hold the written ones against."
    elif check is None:
        yield 'Whether a classifier tells the two apart is not known: that is found with style = "need".'
    elif check.auc is None:
        yield "There are too few questions for a classifier to tell the two apart, or not to."


def _said(found: Realism) -> Iterator[str]:
    if found.check and found.check.said:
        yield found.check.said[:1].upper() + found.check.said[1:] + "."
    beside = f", people's {shown(found.figures['real_opening'])} with theirs" if "real_opening" in found.figures else ""
    yield (
        f"{shown(found.figures['opening'])} of the written questions begin with the words that most begin with, "
        f"“{plain(found.opening or '')}”{beside}."
    )
    if "auc_with_meaning" in found.figures:
        area = shown(found.figures["auc_with_meaning"])
        yield f"With what they mean (embeddings) beside how they look they are told apart with an AUC of {area}."
    if "copies" in found.figures:
        yield f"{shown(found.figures['copies'])} of the written questions nearly repeat one of people's."


def _warnings(found: Realism) -> Iterator[str]:
    figures: Mapping[str, Figure] = found.figures
    if found.check and above(found.check.auc, 0.5) and found.check.auc:
        yield f"Written questions can be told from people's by how they look: AUC {shown(found.check.auc)}."
    if above(figures.get("auc_with_meaning"), 0.5) and not (found.check and above(found.check.auc, 0.5)):
        area = shown(figures["auc_with_meaning"])
        yield f"Written questions can be told from people's by looks and meaning: AUC {area}."
    mine, gap = figures["opening"], figures.get("difference_opening")
    enough = mine.n >= FEWEST and mine.value is not None
    alike = gap.value is not None and gap.value >= NOTABLE and above(gap) if gap else (mine.value or 0) >= ALIKE
    if enough and alike:
        yield f"Written questions begin alike: {shown(mine)} of them with “{plain(found.opening or '')}”."
    if found.copies:
        yield f"{len(found.copies)} of the written questions nearly repeat one of people's, which were their examples."
