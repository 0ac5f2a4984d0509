"""Evidence: the passages that were judged relevant to a query, which the judges of answers and of games are shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ragassay.records import Judgment

from ..inputs.material import Material
from .engine.cases import Evidence, QueryCase

KnownRelevant = Mapping[str, tuple[Evidence, ...]]
"""Query to its relevant passages, in the order of their ids; a query without any may be absent."""


def known_relevant(material: Material, relevance: Sequence[Judgment], least: int) -> KnownRelevant:
    """The passages labelled `least` (0 to 2) or higher; one that could not be judged is none of them."""
    found: dict[str, list[Evidence]] = defaultdict(list)
    for judgment in relevance:
        if judgment.label is not None and judgment.label >= least:
            found[judgment.query_id].append(Evidence(material.passages[judgment.subject], judgment.reason))
    return {query: tuple(rows) for query, rows in found.items()}


def with_evidence(cases: Sequence[QueryCase], relevant: KnownRelevant) -> list[QueryCase]:
    """The cases, each of their answers with what is relevant to the query."""
    return [
        replace(case, answers=tuple(replace(one, evidence=relevant.get(case.query.id, ())) for one in case.answers))
        for case in cases
    ]
