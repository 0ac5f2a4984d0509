"""The evidence of a question: what a judge grades as answering it, of all that rankers find in the whole corpus.

A question is kept where something answers it, wherever it stands: what nothing answers is not held against the section
that it was written from.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from ragassay.evidence import Span, place_of
from ragassay.records import Found, Judgment, Passage, Query, Section, grouped

from .reject import shape_of
from .slots import LINKED, UNANSWERABLE

RELEVANT, PARTLY = 2, 1
"""Grades of a passage that answers a question, and of one that holds a part of the answer."""

NOT_ANSWERED = "nothing that was found answers it"
ANSWERED = "it is answered after all"
UNGRADED = "what was found could not be graded"
"""How the reasons begin for which a question is rejected in this step."""

PoolOf = Callable[[Sequence[Passage], Sequence[str], Sequence[Collection[str]]], Sequence[Sequence[tuple[str, str]]]]
"""Passages, texts and the ids of each text's own passages to the pool of each: (passage id, who found it)."""
GradeOf = Callable[[Sequence[tuple[Query, Sequence[Passage]]]], tuple[list[Found], list[Judgment]]]
"""Queries with their passages to a row of each judge and passage, and what the judges say as one."""


def shared_words(question: str, passage: str, language: str) -> float:
    """Share of the question's content words (stems, each once, no stop words) that the passage has, 0 to 1.

    A question of stop words alone is held to be all content. language: ISO 639, for stems.
    """
    content = shape_of(question, language).content
    return len(content & shape_of(passage, language).content) / len(content) if content and passage else 0.0


@dataclass(frozen=True)
class Evidence:
    """What was found for one question.

    grades: passage id to its grade, 0 to 2; found_by: to who found it; errors: of the passages that nobody could grade.
    """

    grades: Mapping[str, int] = field(default_factory=dict)
    found_by: Mapping[str, str] = field(default_factory=dict)
    errors: Sequence[str] = ()

    @property
    def best(self) -> int:
        """The highest grade; 0 where nothing was graded higher."""
        return max(self.grades.values(), default=0)

    @property
    def kept(self) -> list[str]:
        """The passages that hold a part of the answer at least: best grade first, then as they were found."""
        return [id for id in sorted(self.grades, key=lambda id: -self.grades[id]) if self.grades[id] >= PARTLY]

    def fault(self, kind: str) -> str | None:
        """Why a question of that kind is not kept; None where it is. One that takes several texts needs two with a part
        of the answer, where none has it all.
        """
        if self.errors and not self.grades:
            return f"{UNGRADED}: {self.errors[0]}"
        if kind == UNANSWERABLE:
            who = next((name for name, grade in self.grades.items() if grade == RELEVANT), None)
            return f"{ANSWERED}: by passage {who}" if who is not None else None
        parts = sum(grade >= PARTLY for grade in self.grades.values())
        answered = self.best == RELEVANT or (kind == LINKED and parts > 1)
        return None if answered else NOT_ANSWERED


@dataclass(frozen=True)
class Finder:
    """The step over one corpus: `passages` of [ingest] in their order, and the two things that other rooms lend."""

    passages: Sequence[Passage]
    pool: PoolOf
    grade: GradeOf
    language: str

    def find(self, queries: Sequence[Query], sections: Sequence[Section]) -> tuple[list[Found], dict[str, Evidence]]:
        """(the lines of `found.jsonl`, query id to its evidence); sections: those of the corpus.

        A query made from sections has the best of their passages in its pool; a turn is looked for by the question that
        stands alone, where there is one. Raises what the two lent raise.
        """
        if not queries:
            return [], {}
        known, own = self._by_id, self._own(queries, sections)
        texts = [getattr(query.text, "stand_alone", None) or query.text for query in queries]
        pools = self.pool(self.passages, texts, own)
        given = [(query, [known[id] for id, _ in pool]) for query, pool in zip(queries, pools, strict=True)]
        rows, judged = self.grade(given)
        by_query = {query.id: dict(pool) for query, pool in zip(queries, pools, strict=True)}
        found = []
        for row in rows:
            told = {**_where(known[row.passage]), "found_by": by_query[row.query_id][row.passage]}
            found.append(row.model_copy(update=told))
        grades = grouped((one.query_id, (one.subject, int(one.label))) for one in judged if one.label is not None)
        errors = grouped((one.query_id, str(one.error)) for one in judged if one.label is None)
        evidence = {id: Evidence(dict(grades.get(id, ())), by, errors.get(id, ())) for id, by in by_query.items()}
        return found, evidence

    def with_evidence(self, query: Query, evidence: Evidence) -> Query:
        """The query with its graded spans in `metadata.evidence`, and the share of its words in the best of them.

        Spans stand best grade first, then in the order in which they were found. A query that brings evidence keeps it.
        """
        known, kept = self._by_id, evidence.kept
        spans = [{**_where(known[id]), "grade": evidence.grades[id], "found_by": evidence.found_by[id]} for id in kept]
        metadata = dict(query.metadata)
        if spans and not metadata.get("evidence"):
            metadata["evidence"] = spans
        if kept and evidence.best == RELEVANT:
            best = [known[id] for id in kept if evidence.grades[id] == RELEVANT]
            metadata["shared_words"] = max(self._share(query, one) for one in best)
        return query.model_copy(update={"metadata": metadata})

    def passages_of(self, evidence: Evidence) -> list[Passage]:
        """Those of which the spans are, in their order."""
        return [self._by_id[id] for id in evidence.kept]

    def _share(self, query: Query, passage: Passage) -> float:
        return round(shared_words(query.text, f"{passage.title}\n{passage.text}", self.language), 3)

    @cached_property
    def _by_id(self) -> Mapping[str, Passage]:
        return {one.id: one for one in self.passages}

    @cached_property
    def _by_doc(self) -> Mapping[str, Sequence[tuple[str, Span]]]:
        """Document to its passages' ids and places."""
        return grouped((at.doc, (one.id, at)) for one in self.passages if (at := place_of(one)))

    def _own(self, queries: Sequence[Query], sections: Sequence[Section]) -> list[Collection[str]]:
        """For each query the ids of the passages that lie in its sections."""
        by_id = {section.id: section for section in sections}

        @cache
        def of_section(name: str) -> set[str]:
            section = by_id[name]
            spans = self._by_doc.get(section.doc, ())
            return {id for id, at in spans if at.start < section.end and section.start < at.end}

        return [set().union(*(of_section(name) for name in _sections(query) if name in by_id)) for query in queries]


def _where(passage: Passage) -> dict[str, Any]:
    at = place_of(passage)
    return at._asdict() if at else {"passage": passage.id}


def _sections(query: Query) -> Iterable[str]:
    several = query.metadata.get("sections")
    return map(str, several) if isinstance(several, list) else [str(query.metadata.get("section"))]
