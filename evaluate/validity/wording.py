"""What written questions are worded like and what they are about: leak, realism and coverage.

Leak: do they hand their words to retrieval, more than people's do, and does that choose the winner? Realism: do they
look like people's? Coverage: what of the corpus are they about?

A question written with its passage in sight repeats the passage's words, which favours retrievers that match words
(Thakur et al., BEIR, NeurIPS 2021, on lexical bias of data sets). Held against are the evidence, where it is known, and
the passage that BM25 finds first, which people's questions have as well.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ragassay.arrays import Floats
from ragassay.evidence import Span, merged
from ragassay.records import Figure, QuestionsCheck
from ragassay.text import listed, plain

from ..inputs.clusters import clusters_of_rows
from ..screening.screened import mean_figures
from .questions import Measured, Question, Reading, asked_by_people, group_difference, share_of, slopes, written
from .records import (
    FEWEST,
    NO_SCREENING,
    Asked,
    Coverage,
    Interaction,
    Leak,
    NearCopy,
    QuestionOverlap,
    Realism,
    Third,
    above,
    shown,
)


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
    single = (word for word in words if len(word) == 1 and unicodedata.category(word) == "Lo")
    return len(words) - 0.5 * sum(unicodedata.name(word, "").startswith(scripts) for word in single)


COPIED_WORDS, COPIED_SHARE = 6, 0.6
"""A question is copied where so many of its words in a row, and that share of them, stand in its evidence."""
MANY_COPIED = 0.1
NOTABLE_OVERLAP = 0.1
"""A difference of shares from people's that is warned of, where it is told from 0."""


def leak(questions: Sequence[Question], experts: Sequence[str], measured: Measured | None, reading: Reading) -> Leak:
    """Everything the page says of it. measured: by the written questions too; None without a screening."""
    ours, people = written(questions), asked_by_people(questions, experts)
    if not ours:
        return Leak(abstained="No question was written by a model, so there is none that could give itself away.")
    rows = {q.id: overlap(q.text, q.evidence, reading) for q in ours if q.evidence}
    clusters = clusters_of_rows([q.cluster for q in ours if q.evidence])
    table = np.array([(one.shared, one.run_share, is_copied(one), one.run) for one in rows.values()], dtype=np.float64)
    table = table.reshape(len(rows), 4).T
    names = ("shared_evidence", "run_share_evidence", "copied", "run_evidence")
    means = [*mean_figures(table[:3], clusters), *mean_figures(table[3:], clusters, None)]
    failed = {"n_failed": len(ours) - len(rows)}
    figures = {name: one.model_copy(update=failed) for name, one in zip(names, means, strict=True)}
    best = [overlap(text, reading.best(text), reading) for text in (*(q.text for q in ours), *people)]
    both = np.array([[one.shared for one in best], [one.run_share for one in best]])
    figures |= _beside_people(("shared_best", "run_share_best"), both, ours)
    thirds, interactions, unsaid = _by_overlap({name: row.shared for name, row in rows.items()}, measured)
    if not people:
        unsaid = ("There are no people's questions (questions.txt) whose overlap could be the measure.", *unsaid)
    if not figures["shared_evidence"].n:
        unsaid = ("No written question has evidence to be held against.", *unsaid)
    return Leak(
        figures=figures,
        thirds=thirds,
        interactions=interactions,
        questions=tuple(QuestionOverlap(id=name, **row._asdict()) for name, row in rows.items()),
        said=tuple(_leak_said(figures, thirds)),
        warnings=tuple(_leak_warnings(figures, thirds, interactions)),
        abstained=" ".join(unsaid) or None,
    )


def is_copied(row: Overlap) -> bool:
    """Whether a question was taken from its evidence word for word, but for a few words around."""
    return row.run >= COPIED_WORDS and row.run_share >= COPIED_SHARE


def _beside_people(names: Sequence[str], values: Floats, ours: Sequence[Question]) -> dict[str, Figure]:
    """Of values (names, questions), those of the written ones first: the means of them, of people's, and the gaps."""
    n_people = values.shape[1] - len(ours)
    clusters = clusters_of_rows([*(q.cluster for q in ours), *(f"person {place}" for place in range(n_people))])
    mine = np.arange(values.shape[1]) < len(ours)
    found = dict(zip(names, mean_figures(values[:, mine], clusters.where(mine)), strict=True))
    if n_people:
        of_people = mean_figures(values[:, ~mine], clusters.where(~mine))
        found |= {f"real_{name}": figure for name, figure in zip(names, of_people, strict=True)}
        gaps = group_difference(values, mine, clusters).figures()
        found |= {f"difference_{name}": figure for name, figure in zip(names, gaps, strict=True)}
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
    values, names, thirds = part.by_family, part.family_names, _thirds(part, x)
    pairs = list(combinations(range(len(names)), 2))
    if not pairs:
        unsaid = "There is one kind of retriever only, so none that could gain more by overlap than another."
        return thirds, (), (unsaid,)
    first, second = (list(side) for side in zip(*pairs, strict=True))
    found = slopes(values[first] - values[second], x, part.clusters, n_all - len(part.clusters.queries))
    rows = zip(pairs, found.figures(), found.told(len(pairs)).tolist(), strict=True)
    gains = (Interaction(family=names[a], other=names[b], figure=f, told=told) for (a, b), f, told in rows)
    return thirds, tuple(gains), ()


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
        third = Third(
            low=float(x[which].min()),
            high=float(x[which].max()),
            n=int(which.sum()),
            families=dict(zip(names, mean_figures(families, clusters), strict=True)),
            variants=dict(zip(part.names, mean_figures(variants, clusters), strict=True)),
            best=tuple(names[at] for at in np.flatnonzero(means > means.max() - 1e-9)),
        )
        found.append(third)
    return tuple(found)


def _leak_said(figures: Mapping[str, Figure], thirds: Sequence[Third]) -> Iterator[str]:
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


def _leak_warnings(
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
            if way and abs(gap.value) >= NOTABLE_OVERLAP:
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


OPENING = 3
"""Words of a beginning (of a script without spaces: characters)."""
ALIKE, NOTABLE_OPENING = 0.5, 0.2
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
    sides = [[" ".join(reading.words(text)[:OPENING]) for text in side] for side in ([q.text for q in ours], people)]
    commonest = [Counter(side).most_common(1)[0][0] if side else "" for side in sides]
    values = np.array([[float(one == most) for side, most in zip(sides, commonest, strict=True) for one in side]])
    figures = _beside_people(("opening",), values, ours)
    copies = _copies(ours, people, reading) if people else ()
    if people:
        copied = {copy.id for copy in copies}
        figures["copies"] = share_of(ours, (q.id in copied for q in ours))
    if people and reading.apart and (area := reading.apart(people, [q.text for q in ours])):
        figures["auc_with_meaning"] = area
    unsaid = None
    if not people:
        unsaid = "There are no people's questions (questions.txt) to hold the written ones against."
    elif check is None:
        unsaid = 'Whether a classifier tells the two apart is not known: that is found with style = "need".'
    elif check.auc is None:
        unsaid = "There are too few questions for a classifier to tell the two apart, or not to."
    found = Realism(check=check, opening=commonest[0], figures=figures, copies=copies, abstained=unsaid)
    return found.model_copy(update={"said": tuple(_realism_said(found)), "warnings": tuple(_realism_warnings(found))})


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


def _realism_said(found: Realism) -> Iterator[str]:
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


def _realism_warnings(found: Realism) -> Iterator[str]:
    figures: Mapping[str, Figure] = found.figures
    if found.check and above(found.check.auc, 0.5) and found.check.auc:
        yield f"Written questions can be told from people's by how they look: AUC {shown(found.check.auc)}."
    if above(figures.get("auc_with_meaning"), 0.5) and not (found.check and above(found.check.auc, 0.5)):
        area = shown(figures["auc_with_meaning"])
        yield f"Written questions can be told from people's by looks and meaning: AUC {area}."
    mine, gap = figures["opening"], figures.get("difference_opening")
    enough = mine.n >= FEWEST and mine.value is not None
    alike = gap.value is not None and gap.value >= NOTABLE_OPENING and above(gap) if gap else (mine.value or 0) >= ALIKE
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
    figures["near_duplicates"] = share_of(ours, (q.id in repeated for q in ours))
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
    n_evidence, n_by_doc = sum(span.end - span.start for span in merged(spans)), corpus.documents
    return {
        "documents": share(len(docs & n_by_doc.keys()), len(n_by_doc)),
        "sections": share(len(about), len(corpus.sections)),
        "characters": share(sum(lengths[name] for name in about), sum(lengths.values())),
        "pages": share(len(on), len(corpus.pages)),
        "evidence_characters": share(n_evidence, sum(n_by_doc.values())),
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
