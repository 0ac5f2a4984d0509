"""R(section)@k: whether the section a question was made from is among the first k passages.

It needs no judge. A query's source is its `metadata.section` (offsets in the document's text), or the pages in its
metadata; a query of a user's own has none and is not counted, and neither is one that the documents do not answer
(`metadata.kind` "unanswerable").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragassay.records import Passage, Query, Section

from ..statistics.clustered import Values


@dataclass(frozen=True)
class Source:
    """Where a question comes from. `offsets` (characters, end exclusive) if known, `pages` (first, last) if known."""

    doc: str
    offsets: tuple[int, int] | None
    pages: tuple[int, int] | None


def sources(queries: Sequence[Query], sections: Sequence[Section]) -> dict[str, Source]:
    """Query id to its source, of those that have one."""
    by_id = {section.id: section for section in sections}
    found = {}
    for query in queries:
        if query.metadata.get("kind") == "unanswerable":
            continue
        section = by_id.get(str(query.metadata.get("section")))
        if section is not None:
            pages = (section.first_page, section.last_page)
            found[query.id] = Source(section.doc, (section.start, section.end), pages)
        elif (source := place(query.metadata)) is not None:
            found[query.id] = source
    return found


def place(metadata: Mapping[str, Any]) -> Source | None:
    """The place that a passage's or a query's metadata names; None where it names no document and part of it."""
    doc = metadata.get("doc")
    offsets, pages = _span(metadata, "start", "end"), _span(metadata, "first_page", "last_page")
    return Source(doc, offsets, pages) if isinstance(doc, str) and (offsets or pages) else None


def overlaps(one: Source, other: Source) -> bool | None:
    """Whether two places share text; None where nothing that both of them know can tell."""
    if one.doc != other.doc:
        return False
    if one.offsets and other.offsets:
        return one.offsets[0] < other.offsets[1] and other.offsets[0] < one.offsets[1]
    if one.pages and other.pages:
        return one.pages[0] <= other.pages[1] and other.pages[0] <= one.pages[1]
    return None


def section_recall(
    found: Mapping[str, Source],
    passages: Mapping[str, Passage],
    rankings: Mapping[str, Sequence[tuple[str, float]] | None],
    k: int,
) -> Values:
    """For each query with a source: 1 where some passage of the first k overlaps it, else 0.

    None where retrieval failed, or where no passage is seen to overlap and some have no known place.
    """
    return {query: _hit(source, passages, rankings.get(query, ()), k) for query, source in found.items()}


def _hit(
    source: Source, passages: Mapping[str, Passage], ranking: Sequence[tuple[str, float]] | None, k: int
) -> float | None:
    if ranking is None:
        return None
    seen: list[bool | None] = []
    for passage_id, _ in ranking[:k]:
        at = place(passages[passage_id].metadata) if passage_id in passages else None
        seen.append(overlaps(source, at) if at else None)
    return 1.0 if True in seen else None if None in seen else 0.0


def _span(metadata: Mapping[str, Any], first: str, last: str) -> tuple[int, int] | None:
    low, high = metadata.get(first), metadata.get(last)
    return (low, high) if isinstance(low, int) and isinstance(high, int) else None
