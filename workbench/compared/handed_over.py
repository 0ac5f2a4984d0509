"""How much of the text that an agent handed over is the same in two runs, whatever the passages were.

Passages are held against each other by document and character offsets, so that other chunking compares. Offsets count
in a document's text as it was read: a document that the runs read otherwise is not compared.
"""

from __future__ import annotations

import hashlib
import json
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


@dataclass(frozen=True)
class HandedOver:
    """common: place before to the share of the characters handed over in either run that both have.

    figure: its mean; n_failed: queries where either run handed nothing over, or from where is not known.
    read_otherwise: documents whose text is not the same in both.
    """

    common: dict[int, float]
    figure: Figure
    read_otherwise: tuple[str, ...]


def overlap(one: Sequence[Span], other: Sequence[Span]) -> float:
    """Characters in both over characters in either, 0 to 1; both without overlaps of their own, one of them at least.

    Jaccard's coefficient.
    """
    common = sum(max(0, min(a.end, b.end) - max(a.start, b.start)) for a in one for b in other if a.doc == b.doc)
    total = sum(span.end - span.start for span in (*one, *other))
    return common / (total - common)


def texts_of(workspace: Workspace) -> dict[str, str]:
    """Document to the digest of its text as it was read; none where `pages.jsonl` is not there. Raises InputError."""
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


def handed_over(before: Index, after: Index, agent: str, texts: tuple[dict[str, str], dict[str, str]]) -> HandedOver:
    """Of an agent of both runs, over the queries in common. texts: of either run (`texts_of`)."""
    docs = texts[0].keys() | texts[1].keys()
    otherwise = tuple(sorted(doc for doc in docs if texts[0].get(doc) != texts[1].get(doc)))
    return _handed_over(before, after, agent, frozenset(docs - set(otherwise)), otherwise)


@lru_cache(maxsize=32)
def _handed_over(
    before: Index, after: Index, agent: str, docs: frozenset[str], otherwise: tuple[str, ...]
) -> HandedOver:
    same = same_queries(before, after)
    sides = [_spans(index, agent) for index in (before, after)]
    common: dict[int, float] = {}
    for mine, theirs in zip(same.before.tolist(), same.after.tolist(), strict=True):
        one, other = sides[0].get(mine), sides[1].get(theirs)
        if one and other and all(span.doc in docs for span in (*one, *other)):
            common[mine] = overlap(one, other)
    values = np.array([common.get(place, np.nan) for place in same.before.tolist()])
    known = ~np.isnan(values)
    n, missing = int(known.sum()), int((~known).sum())
    if not n:
        return HandedOver({}, Figure(value=None, n=0, n_failed=missing), otherwise)
    found = interval(np.where(known, values, 0.0), known.astype(np.float64), same.clusters, (0.0, 1.0))
    return HandedOver(common, rounded(found[0], n, missing, *found[1:]), otherwise)


def _spans(index: Index, agent: str) -> dict[int, tuple[Span, ...]]:
    """Place of a query to what the agent handed over; a query with a passage of unknown place is not there."""
    places = _places(index)
    sql = "SELECT query, passages FROM answers JOIN agents ON agents.place = agent WHERE name = ? AND passages != '[]'"
    found: dict[int, tuple[Span, ...]] = {}
    for row in index.rows(sql, (agent,)):
        spans = [places.get(id) for id in json.loads(row["passages"])]
        known = [span for span in spans if span is not None]
        if len(known) == len(spans):
            found[row["query"]] = merged(known)
    return found


@lru_cache(maxsize=8)
def _places(index: Index) -> dict[str, Span]:
    """Passage id to where it stands, of those that say it."""
    rows = index.rows("SELECT passage, doc, first, stop FROM spans")
    return {row["passage"]: Span(row["doc"], row["first"], row["stop"]) for row in rows}
