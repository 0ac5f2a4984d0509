"""R(section)@k: of the sections a question was made from, the share that is among the first k passages.

It needs no judge. A query's sources are its `metadata.sections`, which a question over several has, or else its
`metadata.section` (offsets in the document's text), or the pages in its metadata; a query of a user's own has none and
is not counted, and neither is one that the documents do not answer (`metadata.kind` "unanswerable").
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


Sources = tuple[Source | None, ...]
"""The places of a question's sections, one at least; None for one of several that is not in the corpus."""


def sources(queries: Sequence[Query], sections: Sequence[Section]) -> dict[str, Sources]:
    """Query id to its sources, of those that have one."""
    by_id = {section.id: section for section in sections}
    answerable = (query for query in queries if query.metadata.get("kind") != "unanswerable")
    found = {query.id: _sources(query.metadata, by_id) for query in answerable}
    return {query: places for query, places in found.items() if places}


def _sources(metadata: Mapping[str, Any], by_id: Mapping[str, Section]) -> Sources:
    first, told = str(metadata.get("section")), metadata.get("sections")
    names = list(dict.fromkeys(map(str, told))) if isinstance(told, list) else []
    if len(names) < 2:
        one = _section_place(by_id.get(first)) or place(metadata)
        return (one,) if one else ()
    return tuple(_section_place(by_id.get(name)) or (place(metadata) if name == first else None) for name in names)


def _section_place(section: Section | None) -> Source | None:
    if section is None:
        return None
    return Source(section.doc, (section.start, section.end), (section.first_page, section.last_page))


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
    found: Mapping[str, Sources],
    passages: Mapping[str, Passage],
    rankings: Mapping[str, Sequence[tuple[str, float]] | None],
    k: int,
) -> Values:
    """For each query with a source: the share of its sections that some passage of the first k overlaps, 0 to 1.

    None where retrieval failed, and where it cannot be told of one of its sections: no passage is seen to overlap it,
    and it or some passage has no known place.
    """
    return {query: _recall(places, passages, rankings.get(query, ()), k) for query, places in found.items()}


def _recall(
    places: Sources, passages: Mapping[str, Passage], ranking: Sequence[tuple[str, float]] | None, k: int
) -> float | None:
    if ranking is None:
        return None
    top = [place(passages[name].metadata) if name in passages else None for name, _ in ranking[:k]]
    hits = [hit for source in places if (hit := _hit(source, top)) is not None]
    return sum(hits) / len(places) if len(hits) == len(places) else None


def _hit(source: Source | None, top: Sequence[Source | None]) -> bool | None:
    seen = [overlaps(source, at) if source and at else None for at in top]
    return True if True in seen else None if None in seen or source is None else False


def _span(metadata: Mapping[str, Any], first: str, last: str) -> tuple[int, int] | None:
    low, high = metadata.get(first), metadata.get(last)
    return (low, high) if isinstance(low, int) and isinstance(high, int) else None
