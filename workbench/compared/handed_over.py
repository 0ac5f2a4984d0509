"""How much of the text that an agent handed over is the same in two runs, whatever the passages were.

Passages are held against each other by document and character offsets, so that other chunking compares. Offsets count
in a document's text as it was read: a document that the runs read otherwise is not compared.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from ragassay.evaluate.statistics.clustered import interval
from ragassay.evaluate.statistics.resamples import rounded
from ragassay.evidence.spans import Span, merged
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Figure, Page

from ..index.read import Index
from .same_queries import same_queries

_SPANS = "SELECT passage, doc, first, stop FROM spans"

FEW = 100
"""Queries up to which only their own rows are read."""

MOST_NAMED = 30_000
"""Passages asked for by id at once; SQLite takes some more."""


@dataclass(frozen=True)
class HandedOver:
    """figure: the mean over queries of the share of the characters handed over in either run that both have; n_failed:
    queries where either run handed nothing over, or from where is not known. read_otherwise: documents whose text is
    not the same in both."""

    figure: Figure
    read_otherwise: tuple[str, ...]


@dataclass(frozen=True)
class SameTexts:
    """docs: the documents that both runs read the same; otherwise: all others, by name."""

    docs: frozenset[str]
    otherwise: tuple[str, ...]

    @classmethod
    def of(cls, before: Workspace, after: Workspace) -> SameTexts:
        """Of two runs. Raises InputError where `pages.jsonl` cannot be read."""
        one, other = _texts_of(before), _texts_of(after)
        otherwise = {doc for doc in one.keys() | other.keys() if one.get(doc) != other.get(doc)}
        return cls(frozenset(one.keys() - otherwise), tuple(sorted(otherwise)))


def overlap(one: Sequence[Span], other: Sequence[Span]) -> float:
    """Characters in both over characters in either, 0 to 1. Either is `merged`, with at least one span.

    Jaccard's coefficient.
    """
    common, i, j = 0, 0, 0
    while i < len(one) and j < len(other):
        mine, theirs = one[i], other[j]
        if mine.doc == theirs.doc:
            common += max(0, min(mine.end, theirs.end) - max(mine.start, theirs.start))
        if (mine.doc, mine.end) <= (theirs.doc, theirs.end):
            i += 1
        else:
            j += 1
    total = sum(span.end - span.start for span in (*one, *other))
    return common / (total - common)


def _texts_of(workspace: Workspace) -> dict[str, str]:
    """Document to the digest of its text as it was read; none where `pages.jsonl` is not there."""
    path = workspace.pages
    return _texts(path, path.stat().st_mtime_ns) if path.exists() else {}


@lru_cache(maxsize=8)
def _texts(path: Path, changed_ns: int) -> dict[str, str]:
    del changed_ns
    made: dict[str, hashlib._Hash] = {}
    for page in read_records(path, Page):
        digest = made.setdefault(page.doc, hashlib.sha256())
        digest.update(json.dumps([page.page, page.text]).encode())
    return {doc: digest.hexdigest() for doc, digest in made.items()}


@lru_cache(maxsize=32)
def handed_over(before: Index, after: Index, agent: str, texts: SameTexts) -> HandedOver:
    """Of an agent of both runs, over the queries in common."""
    same = same_queries(before, after)
    pairs = list(zip(same.before.tolist(), same.after.tolist(), strict=True))
    common = common_text(before, after, agent, pairs, texts)
    values = np.array([common.get(place, np.nan) for place, _ in pairs])
    known = ~np.isnan(values)
    n, missing = int(known.sum()), int((~known).sum())
    if not n:
        return HandedOver(Figure(value=None, n=0, n_failed=missing), texts.otherwise)
    found = interval(np.where(known, values, 0.0), known.astype(np.float64), same.clusters, (0.0, 1.0))
    return HandedOver(rounded(found[0], n, missing, *found[1:]), texts.otherwise)


def common_text(
    before: Index, after: Index, agent: str, pairs: Sequence[tuple[int, int]], texts: SameTexts
) -> dict[int, float]:
    """Place before to `overlap`, of those of `pairs` (places before and after) where it is known."""
    mine, theirs = _spans(before, agent, [one for one, _ in pairs]), _spans(after, agent, [one for _, one in pairs])
    found: dict[int, float] = {}
    for place, there in pairs:
        one, other = mine.get(place), theirs.get(there)
        if one and other and all(span.doc in texts.docs for span in (*one, *other)):
            found[place] = overlap(one, other)
    return found


def _spans(index: Index, agent: str, wanted: Sequence[int]) -> dict[int, tuple[Span, ...]]:
    """Place of a query to what the agent handed over; a query with a passage of unknown place is not there."""
    sql = "SELECT query, passages FROM answers JOIN agents ON agents.place = agent WHERE name = ? AND passages != '[]'"
    if len(wanted) <= FEW:
        marks = ", ".join("?" * len(wanted))
        rows = index.rows(f"{sql} AND query IN ({marks})", [agent, *wanted])
    else:
        rows = index.rows(sql, (agent,))
    named = {row["query"]: json.loads(row["passages"]) for row in rows}
    few = len(wanted) <= FEW
    places = _places(index, [id for ids in named.values() for id in ids]) if few else _all_places(index)
    found: dict[int, tuple[Span, ...]] = {}
    for query, ids in named.items():
        known = [span for id in ids if (span := places.get(id)) is not None]
        if len(known) == len(ids):
            found[query] = merged(known)
    return found


def _places(index: Index, ids: Sequence[str]) -> dict[str, Span]:
    """Passage id to where it stands, of those that say it."""
    given = sorted(set(ids))[:MOST_NAMED]
    where = f" WHERE passage IN ({', '.join('?' * len(given))})"
    return _span_of(index.rows(_SPANS + where, given))


@lru_cache(maxsize=8)
def _all_places(index: Index) -> dict[str, Span]:
    return _span_of(index.rows(_SPANS))


def _span_of(rows: Sequence[sqlite3.Row]) -> dict[str, Span]:
    return {row["passage"]: Span(row["doc"], row["first"], row["stop"]) for row in rows}
