"""The evidence of every query of a file: what `metadata.evidence` gives, else the passages that people labelled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..files import read_objects, read_records
from ..records import Page, Passage
from ..text import plain
from ..trec import read_qrels
from .documents import Documents
from .forms import given_pieces
from .pieces import span_of
from .spans import Evidence, Span, merged

RELEVANT = 1
"""The lowest label in `qrels.tsv` of a passage that is evidence."""

_NAMED = 3


@dataclass(frozen=True)
class _Texts:
    """What evidence is looked up in, read where there is some."""

    pages: Path
    corpus: Path

    @cached_property
    def documents(self) -> Documents:
        if not self.pages.exists():
            raise InputError("evidence needs it, and it is not there", file=self.pages, remedy="run `ragassay ingest`")
        return Documents(read_records(self.pages, Page))

    @cached_property
    def passages(self) -> Mapping[str, Passage]:
        return {passage.id: passage for passage in read_records(self.corpus, Passage)}


def read_evidence(queries: Path, pages: Path, corpus: Path, qrels: Path | None = None) -> dict[str, Evidence]:
    """Query id to its evidence, in the file's order; a query without any is absent.

    queries: `queries.jsonl`, of the corpus folder or of the results. pages, corpus: `pages.jsonl` and `corpus.jsonl`,
    read only where there is evidence, and where it is of passages. qrels: labels by passage id; those of at least 1 are
    the evidence of a query that brings none itself. Raises InputError with file and line for what is wrong with any.
    """
    texts, found = _Texts(pages, corpus), {}
    labelled = read_qrels(qrels) if qrels and qrels.exists() else {}
    for line, value in read_objects(queries):
        query, given = str(value.get("_id", value.get("id"))), given_pieces(value, queries, line)
        evidence = merged(_span(piece, f"evidence {n}: ", texts, queries, line) for n, piece in enumerate(given, 1))
        if not evidence and qrels:
            evidence = _of_labels(query, labelled.get(query, {}), texts, qrels)
        if evidence:
            found[query] = evidence
    return found


def in_several_places(queries: Path, pages: Path) -> list[str]:
    """A sentence where quotes stand in several places of their document; of evidence that `read_evidence` takes."""
    texts, found = _Texts(pages, pages), []
    for line, value in read_objects(queries):
        for piece in given_pieces(value, queries, line):
            if "quote" in piece and texts.documents.has_twice(piece["doc"], piece["quote"]):
                found.append(plain(str(value.get("_id", value.get("id")))))
    if not found:
        return []
    named = ", ".join(list(dict.fromkeys(found))[:_NAMED]) + (", …" if len(set(found)) > _NAMED else "")
    some = "1 quote stands" if len(found) == 1 else f"{len(found)} quotes stand"
    return [f"evidence: {some} in several places of a document ({named}), of which the first counts; quote more words"]


def _of_labels(query: str, labels: Mapping[str, int], texts: _Texts, path: Path) -> Evidence:
    relevant = [name for name, label in labels.items() if label >= RELEVANT]
    return merged(_span({"passage": name}, "", texts, path, _line_of(query, name, path)) for name in relevant)


def _span(piece: Mapping[str, Any], which: str, texts: _Texts, path: Path, line: int | None) -> Span:
    documents = texts.documents
    try:
        return span_of(piece, documents, lambda: texts.passages)
    except InputError as error:
        if error.file is not None:  # corpus.jsonl itself cannot be read
            raise
        raise InputError(f"{which}{error.problem}", file=path, line=line, remedy=error.remedy) from None


def _line_of(query: str, passage: str, path: Path) -> int | None:
    """Where qrels label the passage for the query."""
    rows = (line.split() for line in path.read_text(encoding="utf-8-sig").split("\n"))
    return next((n for n, row in enumerate(rows, 1) if row and (row[0], row[-2:-1]) == (query, [passage])), None)
