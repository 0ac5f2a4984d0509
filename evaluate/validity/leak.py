"""Leak: do written questions hand their words to retrieval, more than people's do, and does that choose the winner?

A question written with its passage in sight repeats the passage's words, which favours retrievers that match words
(Thakur et al., BEIR, NeurIPS 2021, on lexical bias of data sets). Held against are the evidence, where it is known, and
the passage that BM25 finds first, which people's questions have as well.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ragassay.arrays import Floats
from ragassay.records import Figure
from ragassay.text import listed, plain

from ..inputs.clusters import Clusters, clusters_of_rows
from ..screening.screened import mean_figures
from .questions import Measured, Question, Reading, asked_by_people, group_difference, slopes, written
from .records import FEWEST, NO_SCREENING, Interaction, Leak, QuestionOverlap, Third, shown


class Overlap(NamedTuple):
    """shared: of the question's content words, 0 to 1. run: the longest common n-gram in words, two characters of a
    script without spaces counting as one. run_share: of the question's words, 0 to 1."""

    shared: float
    run: float
    run_share: float


def overlap(question: str, text: str, reading: Reading) -> Overlap:
    """Of a question with a text; nothing with an empty one."""
    content, asked, there = reading.content(question), reading.words(question), reading.words(text)
    shared = len(content & reading.content(text)) / len(content) if content else 0.0
    match = SequenceMatcher(None, there, asked, autojunk=False).find_longest_match()
    run = _length(asked[match.b : match.b + match.size])
    return Overlap(shared, run, run / max(1.0, _length(asked)))


def _length(words: Sequence[str]) -> float:
    """In words; a character of a script that is written without spaces, or of Hangul, which readers cut likewise, is
    half of one."""
    scripts = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "MYANMAR", "KHMER")
    half = (
        len(word) == 1 and unicodedata.category(word) == "Lo" and unicodedata.name(word, "").startswith(scripts)
        for word in words
    )
    return sum(0.5 if one else 1.0 for one in half)


COPIED_WORDS, COPIED_SHARE = 6, 0.6
"""A question is copied where so many of its words in a row, and that share of them, stand in its evidence."""
MANY_COPIED = 0.1
NOTABLE = 0.1
"""A difference of shares from people's that is warned of, where it is told from 0."""


def leak(questions: Sequence[Question], experts: Sequence[str], measured: Measured | None, reading: Reading) -> Leak:
    """Everything the page says of it. measured: by the written questions too; None without a screening."""
    ours, people = written(questions), asked_by_people(questions, experts)
    if not ours:
        return Leak(abstained="No question was written by a model, so there is none that could give itself away.")
    rows = {q.id: overlap(q.text, q.evidence, reading) for q in ours if q.evidence}
    best = [overlap(q.text, reading.best(q.text), reading) for q in ours]
    theirs = [overlap(text, reading.best(text), reading) for text in people]
    clusters = clusters_of_rows([q.cluster for q in ours if q.evidence])
    figures = _in_evidence(list(rows.values()), len(ours) - len(rows), clusters)
    figures |= _beside_people(best, theirs, [q.cluster for q in ours])
    shared = {name: row.shared for name, row in rows.items()}
    thirds, interactions, unsaid = _by_overlap(shared, measured)
    if not people:
        unsaid = ("There are no people's questions (questions.txt) whose overlap could be the measure.", *unsaid)
    if not figures["shared_evidence"].n:
        unsaid = ("No written question has evidence to be held against.", *unsaid)
    return Leak(
        figures=figures,
        thirds=thirds,
        interactions=interactions,
        questions=tuple(QuestionOverlap(id=name, **row._asdict()) for name, row in rows.items()),
        said=tuple(_said(figures, thirds)),
        warnings=tuple(_warnings(figures, thirds, interactions)),
        abstained=" ".join(unsaid) or None,
    )


def is_copied(row: Overlap) -> bool:
    """Whether a question was taken from its evidence word for word, but for a few words around."""
    return row.run >= COPIED_WORDS and row.run_share >= COPIED_SHARE


def _in_evidence(rows: Sequence[Overlap], n_failed: int, clusters: Clusters) -> dict[str, Figure]:
    table = np.array([(row.shared, row.run_share, is_copied(row), row.run) for row in rows], dtype=np.float64)
    table = table.reshape(len(rows), 4).T
    names = ("shared_evidence", "run_share_evidence", "copied", "run_evidence")
    means = [*mean_figures(table[:3], clusters), *mean_figures(table[3:], clusters, None)]
    found = dict(zip(names, means, strict=True))
    return {name: figure.model_copy(update={"n_failed": n_failed}) for name, figure in found.items()}


def _beside_people(best: Sequence[Overlap], theirs: Sequence[Overlap], names: Sequence[str]) -> dict[str, Figure]:
    """The overlaps with the first passage, of both sides, and their differences."""
    together = clusters_of_rows([*names, *(f"person {place}" for place, _ in enumerate(theirs))])
    measures = {"shared_best": "shared", "run_share_best": "run_share"}
    both = np.array([[getattr(row, field) for row in (*best, *theirs)] for field in measures.values()])
    ours = np.arange(both.shape[1]) < len(best)
    found = dict(zip(measures, mean_figures(both[:, ours], together.where(ours)), strict=True))
    if theirs:
        of_people = mean_figures(both[:, ~ours], together.where(~ours))
        found |= dict(zip((f"real_{name}" for name in measures), of_people, strict=True))
        differences = group_difference(both, ours, together).figures()
        found |= dict(zip((f"difference_{name}" for name in measures), differences, strict=True))
    return found


def _by_overlap(
    shared: Mapping[str, float], measured: Measured | None
) -> tuple[tuple[Third, ...], tuple[Interaction, ...], tuple[str, ...]]:
    """Thirds, interactions, and why there are none."""
    if measured is None:
        return (), (), (NO_SCREENING,)
    part = measured.only(list(shared))
    n_all, part = len(part.clusters.queries), part.complete()
    if len(part.clusters.queries) < FEWEST:
        few = f"{len(part.clusters.queries)} written questions have values of every variant, fewer than {FEWEST}"
        return (), (), (f"Figures by thirds of overlap are not given: {few}.",)
    x = np.array([shared[query] for query in part.clusters.queries])
    if np.ptp(x) == 0:
        return (), (), ("All written questions share as much with their evidence, so there are no thirds of it.",)
    failed = n_all - len(part.clusters.queries)
    one = ("There is one kind of retriever only, so none that could gain more by overlap than another.",)
    return _thirds(part, x), _interactions(part, x, failed), one if len(part.family_names) < 2 else ()


def _thirds(part: Measured, x: Floats) -> tuple[Third, ...]:
    """Cut at the quantiles; questions of the same overlap stay together."""
    cuts = np.searchsorted(np.quantile(x, [1 / 3, 2 / 3]), x, side="left")
    found = []
    for which in (cuts == third for third in range(3)):
        if not which.any():
            continue
        clusters, names = part.clusters.where(which), part.family_names
        families, variants = part.by_family[:, which], part.values[:, which]
        means = families.mean(axis=1)
        found.append(
            Third(
                low=float(x[which].min()),
                high=float(x[which].max()),
                n=int(which.sum()),
                families=dict(zip(names, mean_figures(families, clusters), strict=True)),
                variants=dict(zip(part.names, mean_figures(variants, clusters), strict=True)),
                best=tuple(names[at] for at in np.flatnonzero(means > means.max() - 1e-9)),
            )
        )
    return tuple(found)


def _interactions(part: Measured, x: Floats, n_failed: int) -> tuple[Interaction, ...]:
    values, names = part.by_family, part.family_names
    pairs = list(combinations(range(len(names)), 2))
    if not pairs:
        return ()
    first, second = (list(side) for side in zip(*pairs, strict=True))
    found = slopes(values[first] - values[second], x, part.clusters, n_failed)
    rows = zip(pairs, found.figures(), found.told(len(pairs)).tolist(), strict=True)
    return tuple(Interaction(family=names[a], other=names[b], figure=f, told=told) for (a, b), f, told in rows)


def _said(figures: Mapping[str, Figure], thirds: Sequence[Third]) -> Iterator[str]:
    if figures["shared_evidence"].n:
        yield (
            f"Written questions share {shown(figures['shared_evidence'])} of their content words with their evidence; "
            f"the longest run taken over is {shown(figures['run_evidence'])} words, and "
            f"{shown(figures['copied'])} of the questions are copied."
        )
    if "real_shared_best" in figures:
        yield (
            f"With the passage that BM25 finds first they share {shown(figures['shared_best'])}, people's questions "
            f"{shown(figures['real_shared_best'])}: a difference of {shown(figures['difference_shared_best'])}."
        )
    if thirds:
        low, high = (listed(list(map(plain, third.best))) for third in (thirds[0], thirds[-1]))
        yield f"The best family is {low} where questions share least with their evidence, {high} where most."


def _warnings(
    figures: Mapping[str, Figure], thirds: Sequence[Third], interactions: Sequence[Interaction]
) -> Iterator[str]:
    copied = figures["copied"]
    if copied.value is not None and copied.value >= MANY_COPIED:
        yield (
            f"{shown(copied)} of the written questions are copied from their evidence ({COPIED_WORDS} words or more "
            f"in a row, and {COPIED_SHARE:.0%} of the question): retrieval by words has it too easy."
        )
    for name, what in (("shared_best", "share of content words"), ("run_share_best", "longest run of words")):
        gap = figures.get(f"difference_{name}")
        if gap and gap.value is not None and gap.ci_low is not None and gap.ci_high is not None:
            way = "more" if gap.ci_low > 0 else "less" if gap.ci_high < 0 else ""
            if way and abs(gap.value) >= NOTABLE:
                yield f"Written questions overlap {way} with passages than people's, by {what}: {shown(gap)}."
    low, high = (set(thirds[0].best), set(thirds[-1].best)) if thirds else (set[str](), set[str]())
    # A family that leads at one end of overlap and one that leads at the other, if their interaction is told.
    ends = [(one, {one.family, one.other}) for one in interactions if one.told and not low & high]
    if told := next((one for one, pair in ends if pair & low and pair & high), None):
        few, much = (listed(list(map(plain, third.best))) for third in (thirds[0], thirds[-1]))
        yield (
            f"The winner changes with overlap: {few} leads where questions share little with their evidence, {much} "
            f"where they share much (difference of slopes {shown(told.figure)})."
        )
