"""Whether the judge agrees with itself: the same judgment asked for several times, word for word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragassay.records import Game, Judgment, Repeat

from ..inputs.clusters import Clusters
from ..judging.asked_again import repeat_of
from ..results import AuditFinding

Key = tuple[str, str, str]
"""query, subject, criterion."""

KINDS = {
    "passages": "A label that changes from one asking to the next adds noise to every agent's ranking measures alike; "
    "the intervals already hold it.",
    "answers": "A grade that changes from one asking to the next blurs the means of all agents; the intervals already "
    "hold it.",
    "games": "A verdict that changes from one asking to the next is a coin toss: it draws the agents' ratings together "
    "and calls for more queries, and lifts none.",
}


def audit_repeats(
    repeats: Sequence[Repeat],
    relevance: Iterable[Judgment],
    pointwise: Iterable[Judgment],
    games: Iterable[Game],
    clusters: Clusters,
) -> tuple[AuditFinding, ...]:
    """The consistency of passages', answers' and games' judgments, of those that were repeated; empty without any.

    The first judgment counts with its repeats. A game is compared order by order.
    """
    if not repeats:
        return ()
    from ..agreement.self_agreement import repeat_consistency

    firsts: dict[str, dict[Key, float | None]] = {
        "passages": {_key(row): row.label for row in relevance},
        "answers": {_key(row): row.label for row in pointwise},
        "games": {_key(row): row.label for row in (repeat_of(game, 1) for game in games)},
    }
    findings = []
    for kind, first in firsts.items():
        table = _rows(kind, first, repeats)
        if table:
            figure = repeat_consistency(
                list(table.values()), [clusters.names[clusters.number(query)] for query, _, _ in table]
            )
            findings.append(
                AuditFinding(key="repeat_consistency", subject=kind, figure=figure, fair=1.0, sentence=KINDS[kind])
            )
    return tuple(findings)


def _rows(kind: str, first: Mapping[Key, float | None], repeats: Sequence[Repeat]) -> dict[Key, list[float | None]]:
    """What was repeated, in order: the first label, then those of the repeats; None is one that failed."""
    rows: dict[Key, list[float | None]] = {}
    for repeat in sorted(repeats, key=lambda row: (_key(row), row.sample)):
        key = _key(repeat)
        if key in first and (kind == "games") == repeat.criterion.startswith("game-"):
            rows.setdefault(key, [first[key]]).append(repeat.label)
    return rows


def _key(row: Judgment) -> Key:
    return row.query_id, row.subject, row.criterion
