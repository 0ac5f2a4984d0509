"""Perturbed queries beside their originals, and findings without them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ragassay.perturbed import perturbed_from
from ragassay.records import Query

from .findings import Findings, OfJudge


def pairs_of(queries: Sequence[Query]) -> Mapping[str, str]:
    """Perturbed query to its original, of those whose original is in the test set too."""
    ids = {query.id for query in queries}
    return {query.id: original for query in queries if (original := perturbed_from(query)) in ids and original}


def originals_alone(findings: Findings) -> Findings:
    """What there would be, had nothing been perturbed: the same question asked again is no further question.

    Findings without perturbed queries are handed back as they are.
    """
    queries = tuple(query for query in findings.material.queries if perturbed_from(query) is None)
    if len(queries) == len(findings.material.queries) or not queries:
        return findings
    kept = {query.id for query in queries}
    answers = {key: answer for key, answer in findings.material.answers.items() if key[0] in kept}
    return replace(
        findings,
        perturbed=frozenset(query.id for query in findings.material.queries if query.id not in kept),
        material=replace(findings.material, queries=queries, answers=answers),
        rankings={
            agent: {query: row for query, row in ranked.items() if query in kept}
            for agent, ranked in findings.rankings.items()
        },
        relevance=tuple(row for row in findings.relevance if row.query_id in kept),
        qrels={query: labels for query, labels in findings.qrels.items() if query in kept},
        people={query: labels for query, labels in findings.people.items() if query in kept},
        pointwise=tuple(row for row in findings.pointwise if row.query_id in kept),
        games=tuple(row for row in findings.games if row.query_id in kept),
        repeats=tuple(row for row in findings.repeats if row.query_id in kept),
        lists=tuple(row for row in findings.lists if row.query_id in kept),
        judges={
            judge: OfJudge(
                tuple(row for row in one.relevance if row.query_id in kept),
                tuple(row for row in one.pointwise if row.query_id in kept),
            )
            for judge, one in findings.judges.items()
        },
    )
