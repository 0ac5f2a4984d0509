"""What failed, counted once and where it happened.

A label or a game that is missing because an answer failed is no failure of the judge, nor of the agent on the other
side: its error says so (`records.for_want_of_an_answer`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.records import own_failures

from ..inputs.findings import Findings
from ..ratings.verdicts import Verdict
from ..results import Failures
from .pool import failed_answers


def failures(findings: Findings, found: Sequence[Verdict]) -> Failures:
    """By agents and by the judge. found: the verdicts, of a panel the majority's."""
    failed, agents = failed_answers(findings), findings.material.agents
    unranked = {agent: sum(row is None for row in ranking.values()) for agent, ranking in findings.rankings.items()}
    unlabelled = {(row.query_id, row.subject) for row in own_failures(findings.pointwise)}
    return Failures(
        answers={agent: len(failed.get(agent, ())) for agent in agents},
        retrieval={agent: unranked.get(agent, 0) for agent in agents},
        judge_passages=sum(row.error is not None for row in findings.relevance),
        judge_answers=len(unlabelled),
        judge_games=sum(one.winner is None and not one.unplayed for one in found),
    )
