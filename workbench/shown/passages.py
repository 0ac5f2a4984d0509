"""The passages of a query: numbered as they were found, with who found each at which rank and what judges gave it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from ragassay.evaluate.report.queries.evidence import place


@dataclass(frozen=True)
class PassageShown:
    """number: from 1 within the query. passage: None where the corpus does not have it. found: (agent, rank from 1);
    none where it was only judged. page: the address of the page it stands on, None where it names none."""

    number: int
    id: str
    passage: Mapping[str, Any] | None
    where: str
    found: Sequence[tuple[str, int]]
    labels: Sequence[Mapping[str, Any]]
    page: str | None


def ids_of(answers: Sequence[Mapping[str, Any]], labels: Sequence[Mapping[str, Any]]) -> list[str]:
    """The passages that agents handed to their answers, as they come, and then those that were only judged."""
    given = [str(id) for answer in answers for id in answer["passages"]]
    return list(dict.fromkeys([*given, *(row["subject"] for row in labels if row["of"] == "passage")]))


def passages_of(
    query: Mapping[str, Any],
    answers: Sequence[Mapping[str, Any]],
    labels: Sequence[Mapping[str, Any]],
    known: Mapping[str, Mapping[str, Any]],
    bench: str,
) -> list[PassageShown]:
    """Every passage of a query. `known`: those of the corpus by id."""
    found: dict[str, list[tuple[str, int]]] = {}
    for answer in answers:
        for rank, id in enumerate(dict.fromkeys(answer["passages"]), 1):
            found.setdefault(id, []).append((answer["name"], rank))
    given: dict[str, list[Mapping[str, Any]]] = {}
    for row in labels:
        if row["of"] != "answer":
            given.setdefault(row["subject"], []).append(row)
    shown = []
    for number, id in enumerate(ids_of(answers, labels), 1):
        passage = known.get(id)
        where, page = ("", None) if passage is None else (place(passage["metadata"]), _page(bench, query, passage))
        shown.append(PassageShown(number, id, passage, where, found.get(id, []), given.get(id, []), page))
    return shown


def _page(bench: str, query: Mapping[str, Any], passage: Mapping[str, Any]) -> str | None:
    asked = {"passage": passage["id"], "query": query["id"]}
    return page_address(bench, passage["metadata"].get("doc"), passage["metadata"].get("first_page"), asked)


def page_address(bench: str, doc: object, page: object, asked: Mapping[str, str]) -> str | None:
    """The address of a document's page; None where it is not named."""
    if not isinstance(doc, str) or not doc or not isinstance(page, int):
        return None
    return f"/{bench}/page/{quote(doc)}/{page}?{urlencode(asked)}"
