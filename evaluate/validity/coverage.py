"""Coverage: what of the corpus the written questions are about, and whether documents, kinds and roles are as asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ragassay.evidence.spans import Span, merged
from ragassay.records import Figure
from ragassay.text import plain

from ..inputs.clusters import clusters_of_rows
from ..screening.mean_figures import mean_figures
from .questions import Question, Reading, written
from .realism import NEAR, jaccard
from .records import Asked, Coverage
from .told import shown

NAMED = 3


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
    duplicates = _duplicates(ours, reading)
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
    return found.model_copy(update={"said": tuple(_said(found)), "warnings": tuple(_warnings(found))})


def _shares(ours: Sequence[Question], spans: Sequence[Span], corpus: Corpus) -> dict[str, Figure]:
    """Counted shares of the corpus, n of what they are shares of."""
    about = {q.section for q in ours if q.section in corpus.sections}
    docs = {q.doc for q in ours} | {span.doc for span in spans}
    lengths = {name: span.end - span.start for name, span in corpus.sections.items()}
    on = {page for page, place in corpus.pages.items() if any(_meet(place, span) for span in spans)}
    n_evidence = sum(span.end - span.start for span in merged(spans))
    n_characters = sum(corpus.documents.values())
    return {
        "documents": _share(len(docs & corpus.documents.keys()), len(corpus.documents)),
        "sections": _share(len(about), len(corpus.sections)),
        "characters": _share(sum(lengths[name] for name in about), sum(lengths.values())),
        "pages": _share(len(on), len(corpus.pages)),
        "evidence_characters": _share(n_evidence, n_characters),
    }


def _share(part: int, whole: int) -> Figure:
    return Figure(value=round(min(1.0, part / whole), 9) if whole else None, n=whole)


def _meet(one: Span, other: Span) -> bool:
    return one.doc == other.doc and one.start < other.end and other.start < one.end


def _asked(ours: Sequence[Question], field: str, expected: Mapping[str, float]) -> tuple[Asked, ...]:
    """The share of each value of a field, those that were asked for first; nothing where no question has one."""
    labels = [str(getattr(question, field)) for question in ours]
    n = Counter(label for label in labels if label)
    names = list(dict.fromkeys([*(name for name in expected), *sorted(n)])) if n else []
    if not names:
        return ()
    table = np.array([[float(label == name) for label in labels] for name in names])
    found = mean_figures(table, clusters_of_rows([question.cluster for question in ours]))
    return tuple(Asked(name=name, share=f, expected=expected.get(name)) for name, f in zip(names, found, strict=True))


def _duplicates(ours: Sequence[Question], reading: Reading) -> tuple[tuple[str, str], ...]:
    rows = [(question.id, reading.content(question.text)) for question in ours]
    return tuple((a, b) for (a, one), (b, other) in combinations(rows, 2) if jaccard(one, other) >= NEAR)


def _said(found: Coverage) -> Iterator[str]:
    shares = {name: "not known" if one.value is None else f"{one.value:.0%}" for name, one in found.figures.items()}
    of = {name: f"{one.n:,}" for name, one in found.figures.items()}
    yield (
        f"Written questions are about {shares['documents']} of {of['documents']} documents, {shares['sections']} of "
        f"{of['sections']} sections (with {shares['characters']} of their characters); their evidence stands on "
        f"{shares['pages']} of {of['pages']} pages and is {shares['evidence_characters']} of the text."
    )
    if found.duplicates:
        pairs = ", ".join(f"{plain(a)} and {plain(b)}" for a, b in found.duplicates[:NAMED])
        more = ", …" if len(found.duplicates) > NAMED else ""
        yield f"{len(found.duplicates)} pairs of them ask nearly the same ({pairs}{more})."


def _warnings(found: Coverage) -> Iterator[str]:
    for what, rows in (("kind", found.kinds), ("role", found.roles), ("document", found.documents)):
        for row in rows:
            low, high, expected = row.share.ci_low, row.share.ci_high, row.expected
            if expected is None or low is None or high is None or low <= expected <= high:
                continue
            has = f"{shown(row.share)} of the written questions, where {expected:.2f} were expected"
            yield f"The {what} {plain(row.name)} has {has}."
