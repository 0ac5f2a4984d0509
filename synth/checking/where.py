"""Which documents and sections a test set asks about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ragassay.evidence.spans import Span

from .corpus_text import CorpusText
from .evidence_there import Found
from .findings import Coverage, Covered


class Placed(Protocol):
    """A question with what says where it is about."""

    @property
    def evidence(self) -> Sequence[Found]: ...
    @property
    def passage(self) -> tuple[str, str] | None: ...


def coverage(questions: Sequence[Placed], corpus: CorpusText) -> Coverage:
    """Documents and sections asked about, by evidence; by the passage found first for questions that bring none."""
    docs: set[str] = set()
    by_evidence = by_search = 0
    spans: list[Span] = []
    for one in questions:
        known = {found.doc for found in one.evidence if found.doc and not found.fault}
        spans += [found.span for found in one.evidence if found.span]
        by_evidence += bool(known)
        if not known and one.passage:
            by_search += 1
            known = {one.passage[0]}
        docs |= known
    sections = Covered(asked=_sections(spans, corpus), of=len(corpus.sections)) if corpus.sections and spans else None
    return Coverage(
        documents=Covered(asked=len(docs), of=len(corpus.documents)),
        sections=sections,
        n_by_evidence=by_evidence,
        n_by_search=by_search,
        n_nowhere=len(questions) - by_evidence - by_search,
    )


def _sections(spans: Sequence[Span], corpus: CorpusText) -> int:
    """How many sections the spans begin in or reach into."""
    return sum(
        any(span.doc == section.doc and span.start < section.end and section.start < span.end for span in spans)
        for section in corpus.sections
    )
