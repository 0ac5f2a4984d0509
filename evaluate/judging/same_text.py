"""A label belongs to the text that it was given for: passages of one text under several ids are judged once.

Chunkings of one corpus have passages in common, with the same title and text and an id each. The first of a query's,
by wave and then by id, is put to the judge, and what it says is said of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ragassay.records import Judgment, Passage

from .engine.cases import Evidence, QueryCase

Row = TypeVar("Row", bound=Judgment)
Text = tuple[str, str]


@dataclass(frozen=True)
class AskedOnce:
    """The queries by wave, each with one passage of each text; `others`: (query, passage asked about) to the ids of the
    others that have its text."""

    waves: tuple[tuple[QueryCase, ...], ...]
    others: Mapping[tuple[str, str], Sequence[str]]

    def of_all(self, rows: Iterable[Row]) -> list[Row]:
        """The records of passages asked about, and after each the same of the others of its text."""
        found: list[Row] = []
        for row in rows:
            others = self.others.get((row.query_id, row.subject), ())
            found += [row, *(row.model_copy(update={"subject": other}) for other in others)]
        return found


def ask_once(waves: Sequence[Sequence[QueryCase]]) -> AskedOnce:
    """The queries without the passages whose text stands in an earlier wave, or earlier in their own."""
    first: dict[tuple[str, Text], str] = {}
    others: dict[tuple[str, str], list[str]] = {}

    def is_first(query: str, passage: Passage) -> bool:
        known = first.setdefault((query, _text(passage)), passage.id)
        if known != passage.id:
            others.setdefault((query, known), []).append(passage.id)
        return known == passage.id

    kept = tuple(
        tuple(
            replace(case, passages=tuple(one for one in case.passages if is_first(case.query.id, one)))
            for case in cases
        )
        for cases in waves
    )
    return AskedOnce(kept, others)


def shown_once(rows: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """What is relevant, each text once."""
    found: dict[Text, Evidence] = {}
    for row in rows:
        found.setdefault(_text(row.passage), row)
    return tuple(found.values())


def _text(passage: Passage) -> Text:
    return passage.title, passage.text
