"""Realism, do written questions look like people's; and coverage, what of the corpus are they about?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ragassay.evidence import Span, merged
from ragassay.records import Figure, QuestionsCheck
from ragassay.text import plain

from ..inputs.clusters import clusters_of_rows
from ..screening.screened import mean_figures
from .questions import Question, Reading, asked_by_people, group_difference, written
from .records import FEWEST, Asked, Coverage, NearCopy, Realism, above, shown

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
    unsaid = None
    if not people:
        unsaid = "There are no people's questions (questions.txt) to hold the written ones against."
    elif check is None:
        unsaid = 'Whether a classifier tells the two apart is not known: that is found with style = "need".'
    elif check.auc is None:
        unsaid = "There are too few questions for a classifier to tell the two apart, or not to."
    found = Realism(check=check, opening=opening, figures=figures, copies=copies, abstained=unsaid)
    return found.model_copy(update={"said": tuple(_said(found)), "warnings": tuple(_warnings(found))})


def _openings(ours: Sequence[Question], people: Sequence[str], reading: Reading) -> tuple[str, dict[str, Figure]]:
    """The beginning that most written questions have, and its share; of people's, the share of theirs."""
    texts = [q.text for q in ours], people
    sides = [[" ".join(reading.words(text)[:OPENING]) for text in side] for side in texts]
    commonest = [Counter(side).most_common(1)[0][0] if side else "" for side in sides]
    values = np.array([[float(one == most) for side, most in zip(sides, commonest, strict=True) for one in side]])
    clusters = clusters_of_rows([*(q.cluster for q in ours), *(f"person {place}" for place, _ in enumerate(people))])
    mine = np.arange(values.shape[1]) < len(ours)
    found = {"opening": mean_figures(values[:, mine], clusters.where(mine))[0]}
    if people:
        found["real_opening"] = mean_figures(values[:, ~mine], clusters.where(~mine))[0]
        found["difference_opening"] = group_difference(values, mine, clusters).figures()[0]
    return commonest[0], found


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


class Corpus(NamedTuple):
    """sections: id to where it stands. pages: (document, page) to where it stands; what was left out is not in it."""

    sections: Mapping[str, Span]
    pages: Mapping[tuple[str, int], Span]

    @property
    def documents(self) -> dict[str, int]:
        """Each document with the characters of its pages."""
        found: dict[str, int] = {}
        for (doc, _), span in self.pages.items():
            found[doc] = found.get(doc, 0) + span.end - span.start
        return found


def coverage(
    questions: Sequence[Question],
    evidence: Mapping[str, Sequence[Span]],
    corpus: Corpus,
    kinds: Mapping[str, float],
    roles: Sequence[str],
    reading: Reading,
) -> Coverage:
    """Everything the page says of it. kinds: the shares asked for; roles: those who were to ask, each as often."""
    ours = written(questions)
    if not ours:
        return Coverage(abstained="No question was written by a model.")
    contents = combinations([(q.id, reading.content(q.text)) for q in ours], 2)
    duplicates = tuple((a, b) for (a, one), (b, other) in contents if jaccard(one, other) >= NEAR)
    figures = _shares(ours, [span for q in ours for span in evidence.get(q.id, ())], corpus)
    repeated = {one for pair in duplicates for one in pair}
    clusters = clusters_of_rows([q.cluster for q in ours])
    (figures["near_duplicates"],) = mean_figures(np.array([[float(q.id in repeated) for q in ours]]), clusters)
    lengths = corpus.documents
    total = sum(lengths.values())
    found = Coverage(
        figures=figures,
        documents=_asked(ours, "doc", {doc: n / total for doc, n in lengths.items()} if total else {}),
        kinds=_asked(ours, "kind", {kind: share for kind, share in kinds.items() if share > 0}),
        roles=_asked(ours, "role", {role: 1 / len(roles) for role in roles}),
        duplicates=duplicates,
    )
    return found.model_copy(update={"said": tuple(_coverage_said(found)), "warnings": tuple(_coverage_warnings(found))})


def _shares(ours: Sequence[Question], spans: Sequence[Span], corpus: Corpus) -> dict[str, Figure]:
    """Counted shares of the corpus, n of what they are shares of."""

    def share(part: int, whole: int) -> Figure:
        return Figure(value=round(min(1.0, part / whole), 9) if whole else None, n=whole)

    def meet(one: Span, other: Span) -> bool:
        return one.doc == other.doc and one.start < other.end and other.start < one.end

    about = {q.section for q in ours if q.section in corpus.sections}
    docs = {q.doc for q in ours} | {span.doc for span in spans}
    lengths = {name: span.end - span.start for name, span in corpus.sections.items()}
    on = {page for page, place in corpus.pages.items() if any(meet(place, span) for span in spans)}
    n_evidence = sum(span.end - span.start for span in merged(spans))
    n_characters = sum(corpus.documents.values())
    return {
        "documents": share(len(docs & corpus.documents.keys()), len(corpus.documents)),
        "sections": share(len(about), len(corpus.sections)),
        "characters": share(sum(lengths[name] for name in about), sum(lengths.values())),
        "pages": share(len(on), len(corpus.pages)),
        "evidence_characters": share(n_evidence, n_characters),
    }


def _asked(ours: Sequence[Question], field: str, expected: Mapping[str, float]) -> tuple[Asked, ...]:
    """The share of each value of a field, those that were asked for first; nothing where no question has one."""
    labels = [str(getattr(question, field)) for question in ours]
    n = Counter(label for label in labels if label)
    if not n:
        return ()
    names = list(dict.fromkeys([*expected, *sorted(n)]))
    table = np.array([[float(label == name) for label in labels] for name in names])
    found = mean_figures(table, clusters_of_rows([question.cluster for question in ours]))
    return tuple(Asked(name=name, share=f, expected=expected.get(name)) for name, f in zip(names, found, strict=True))


def _coverage_said(found: Coverage) -> Iterator[str]:
    shares = {name: "not known" if one.value is None else f"{one.value:.0%}" for name, one in found.figures.items()}
    of = {name: f"{one.n:,}" for name, one in found.figures.items()}
    yield (
        f"Written questions are about {shares['documents']} of {of['documents']} documents, {shares['sections']} of "
        f"{of['sections']} sections (with {shares['characters']} of their characters); their evidence stands on "
        f"{shares['pages']} of {of['pages']} pages and is {shares['evidence_characters']} of the text."
    )
    if found.duplicates:
        pairs = ", ".join(f"{plain(a)} and {plain(b)}" for a, b in found.duplicates[:3])
        more = ", …" if len(found.duplicates) > 3 else ""
        yield f"{len(found.duplicates)} pairs of them ask nearly the same ({pairs}{more})."


def _coverage_warnings(found: Coverage) -> Iterator[str]:
    for what, rows in (("kind", found.kinds), ("role", found.roles), ("document", found.documents)):
        for row in rows:
            low, high, expected = row.share.ci_low, row.share.ci_high, row.expected
            if expected is None or low is None or high is None or low <= expected <= high:
                continue
            has = f"{shown(row.share)} of the written questions, where {expected:.2f} were expected"
            yield f"The {what} {plain(row.name)} has {has}."
