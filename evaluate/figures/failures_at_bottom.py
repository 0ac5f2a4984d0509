"""Every figure once more with what an agent failed at the bottom of its scale, and no verdict on a pair that it
changes.

A failed answer has no label and no verdict, so that leaving it out pays an agent that fails where it would do badly.
Counting it as the worst answer there is may be too harsh, where a failure is a fault of the network. So both are
computed, and what holds only one way is not said; whether the leader is told is asked with its failures lost anyhow
(`ratings.points`). A failed call of the judge is not the agent's, and stays missing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from ..inputs.findings import Findings
from ..inputs.labels import HIGHEST
from ..ratings import bradley_terry
from ..ratings.points import points_of
from ..ratings.verdicts import Verdict
from ..ratings.win_table import contests, win_rate
from ..results import NOT_DISTINGUISHABLE, POINTS, Choice, Comparison, FailuresAtBottom
from ..statistics.clustered import ByAgent
from ..statistics.resamples import Resamples
from .compared_measures import ComparedMeasure, of_findings
from .query_values import figures

Failed = Mapping[str, Collection[str]]
"""Agent to the ids of the queries on which it failed; only agents that did."""


@dataclass(frozen=True)
class Bottom:
    """Values and verdicts with failures at the bottom. measures: as they are compared; leader: by points."""

    failed: Failed
    retrieval: ByAgent
    pointwise: ByAgent
    found: Sequence[Verdict]
    measures: dict[str, ComparedMeasure]
    strengths: bradley_terry.BradleyTerry
    leader: str | None

    def figures(self, choice: Choice, order: Sequence[str], draws: Resamples) -> FailuresAtBottom:
        """For `results.json`, agents in `order`; `choice` is the one made without what failed."""
        pointwise, retrieval = figures(self.pointwise, draws, HIGHEST), figures(self.retrieval, draws)
        return FailuresAtBottom(
            failed={agent: len(self.failed[agent]) for agent in order if agent in self.failed},
            agrees=None in (choice.leader, self.leader) or choice.leader == self.leader,
            leader=self.leader,
            win_rate=win_rate(self.found, order, draws),
            bradley_terry={agent: self.strengths.figures[agent] for agent in order},
            pointwise={agent: pointwise[agent] for agent in order},
            retrieval={agent: retrieval[agent] for agent in order if agent in retrieval},
        )


def at_bottom(
    findings: Findings,
    retrieval: ByAgent,
    pointwise: ByAgent,
    found: Sequence[Verdict],
    draws: Resamples,
    k: int,
    initial: float,
) -> Bottom | None:
    """None where no answer failed. k: the cutoff of the ranking measures; initial: the rating all start from."""
    failed = failed_answers(findings)
    if not failed:
        return None
    agents = findings.material.agents
    ranked = {agent: [q for q, row in ranking.items() if row is None] for agent, ranking in findings.rankings.items()}
    retrieval, pointwise = _lowest(retrieval, ranked), _lowest(pointwise, failed)
    found = verdicts_at_bottom(found, failed)
    points = points_of(found, agents, findings.queries)
    measures = of_findings(k, retrieval, pointwise, points)
    strengths = bradley_terry.rate(contests(found, agents, findings.queries), draws, initial)
    leader = points.order[0] if (points.means == points.means).any() else None
    return Bottom(failed, retrieval, pointwise, found, measures, strengths, leader)


def failed_answers(findings: Findings) -> dict[str, frozenset[str]]:
    """Agent to the queries on which its answer failed; only agents that have some."""
    found: dict[str, set[str]] = {}
    for (query, agent), answer in findings.material.answers.items():
        if answer.error is not None:
            found.setdefault(agent, set()).add(query)
    return {agent: frozenset(found[agent]) for agent in findings.material.agents if agent in found}


def verdicts_at_bottom(found: Sequence[Verdict], failed: Failed) -> list[Verdict]:
    """The verdicts, those that are missing because an answer failed as lost by it, or as a tie of two that failed."""

    def told(verdict: Verdict) -> Verdict:
        a, b = (verdict.query_id in failed.get(agent, ()) for agent in (verdict.agent_a, verdict.agent_b))
        if verdict.winner is not None or not (a or b):
            return verdict
        return replace(verdict, winner="tie" if a and b else "b" if a else "a", error=None)

    return [told(verdict) for verdict in found]


def _lowest(values: ByAgent, failed: Failed) -> ByAgent:
    """The values with 0 on the queries on which the agent failed; all measures here begin at 0."""
    return {
        agent: {
            name: {q: 0.0 if value is None and q in failed.get(agent, ()) else value for q, value in row.items()}
            for name, row in named.items()
        }
        for agent, named in values.items()
    }


def told_with_failures(choice: Choice, bottom: Bottom, n_queries: int) -> Choice:
    """The choice, its sentence saying who leads where failed answers count as lost, if that is another."""
    if None in (choice.leader, bottom.leader) or choice.leader == bottom.leader:
        return choice
    counts = [f"{agent} failed on {len(queries)} of {n_queries}" for agent, queries in bottom.failed.items()]
    said = f" Where failed answers count as lost, {bottom.leader} leads ({'; '.join(counts)} queries)."
    return choice.model_copy(update={"sentence": choice.sentence + said})


def withhold_pairs(
    pairs: Sequence[Comparison], low: Sequence[Comparison], failed: Failed, leader: str | None = None
) -> tuple[Comparison, ...]:
    """The comparisons, without a verdict where one of the two failed and `low` has another.

    low: the same comparisons, in the same order, with failures at the bottom; of measures that have no such, none.
    leader: by points, whose pairs on them have met what failed already.
    """
    at = {(row.measure, row.agent_a, row.agent_b): row for row in low}

    def told(row: Comparison) -> Comparison:
        if row.measure == POINTS and leader in (row.agent_a, row.agent_b):
            return row
        other = at.get((row.measure, row.agent_a, row.agent_b))
        failing = [agent for agent in (row.agent_a, row.agent_b) if agent in failed]
        if other is None or not failing or row.verdict in (NOT_DISTINGUISHABLE, other.verdict):
            return row
        counts = " and ".join(f"{agent} failed on {len(failed[agent])}" for agent in failing)
        said = (
            f"{row.sentence.rstrip('.')}; but not where failed answers count as the worst ({counts}), so "
            "they are not distinguishable."
        )
        return row.model_copy(update={"verdict": NOT_DISTINGUISHABLE, "sentence": said})

    return tuple(told(row) for row in pairs)
