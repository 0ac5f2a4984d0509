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
from ..trec import read_qrels
from .documents import Documents
from .pieces import FORMS, span_of
from .spans import Evidence, Span, merged

RELEVANT = 1
"""The lowest label in `qrels.tsv` of a passage that is evidence."""


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
        query, given = str(value.get("_id", value.get("id"))), _given(value)
        evidence = _pieces(given, texts, queries, line) if given is not None else ()
        if not evidence and qrels:
            evidence = _of_labels(query, labelled.get(query, {}), texts, qrels)
        if evidence:
            found[query] = evidence
    return found


def _given(value: Mapping[str, Any]) -> Any:
    """A field `evidence` beside the metadata counts too, as all fields of a user's own do; metadata goes first."""
    metadata = value.get("metadata")
    within = metadata.get("evidence") if isinstance(metadata, dict) else None
    return value.get("evidence") if within is None else within


def _pieces(given: object, texts: _Texts, path: Path, line: int) -> Evidence:
    if not isinstance(given, list):
        raise InputError("evidence is not a list", file=path, line=line, remedy=f"write a list of {FORMS}")
    return merged(_span(piece, f"evidence {n}: ", texts, path, line) for n, piece in enumerate(given, 1))


def _of_labels(query: str, labels: Mapping[str, int], texts: _Texts, path: Path) -> Evidence:
    relevant = [name for name, label in labels.items() if label >= RELEVANT]
    return merged(_span({"passage": name}, "", texts, path, _line_of(query, name, path)) for name in relevant)


def _span(piece: object, which: str, texts: _Texts, path: Path, line: int | None) -> Span:
    try:
        return span_of(piece, texts.documents, lambda: texts.passages)
    except InputError as error:
        if error.file is not None:
            raise
        raise InputError(f"{which}{error.problem}", file=path, line=line, remedy=error.remedy) from None


def _line_of(query: str, passage: str, path: Path) -> int | None:
    """Where qrels label the passage for the query."""
    rows = (line.split() for line in path.read_text(encoding="utf-8-sig").split("\n"))
    return next((n for n, row in enumerate(rows, 1) if row and (row[0], row[-2:-1]) == (query, [passage])), None)
