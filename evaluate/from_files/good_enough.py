"""What `ragassay judge` says of answers from files: shares by threshold, pass or fail of each, what stands out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from pydantic import Field

from ragassay.perturbed import perturbed_from
from ragassay.records import Answer, Assessment, Passage, Query, Record

from ..figures.agent_evaluation_rows import Judged as AgentEvaluation
from ..figures.agent_evaluation_rows import judged_of, takes_part
from ..figures.flips import answer_thresholds, flip_problems, flips_of
from ..figures.good_enough.evidence_found import evidence_found, relevant_by_judges
from ..figures.good_enough.insights import insights
from ..figures.good_enough.problems import problems
from ..figures.good_enough.shares import AgentShares, by_threshold, shares_by_agent, values_by_agent
from ..figures.root_cause import Outcome, Overall, fix_of, overall, passages_outcome
from ..inputs.clusters import ALONE, Clusters
from ..inputs.material import Material
from ..inputs.sections import source_clusters
from ..judging.engine.cases import QueryCase, expected_response
from ..judging.engine.evaluator import NO_VALUE, Evaluator
from ..judging.engine.thresholds import thresholds_of
from ..judging.judges.document_recall import DocumentRecall
from ..results import ByThreshold, Figures, Insight, Perturbed, Problem
from ..statistics.clustered import limits_of
from ..statistics.resamples import Resamples, resamples


def clusters_of(queries: Sequence[Query]) -> Clusters:
    """Each query by itself, unless some were made of others."""
    return source_clusters(queries) if any(perturbed_from(query) for query in queries) else ALONE


class AnswerVerdict(Record):
    """`--verdicts`: pass or fail of one answer, by every criterion and its threshold.

    As with Agent Evaluation one relevant passage is enough for `chunk_relevance` and for a judge of passages of the
    user's own, and document_recall, which is no judge, has no say; unless a threshold is given for their mean.
    root_cause: the first criterion failed, by the order of Agent Evaluation's root causes; fix: what to do about it.
    failure: whether something relevant was retrieved for an answer that fails. errors: criterion to why it is open.
    """

    query_id: str
    agent: str
    verdict: Literal["pass", "fail", "undecided"]
    root_cause: str | None = None
    failure: Literal["retrieval", "generation", "unexplained"] | None = None
    fix: str | None = None
    failed: tuple[str, ...] = ()
    errors: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True)
class Judged:
    """The evaluators, what they gave, and the cases; thresholds: the user's."""

    evaluators: Sequence[Evaluator]
    rows: Sequence[Assessment]
    cases: Sequence[QueryCase]
    given: Mapping[str, float]

    @cached_property
    def thresholds(self) -> dict[str, float]:
        """Criterion to the label that is good enough."""
        return thresholds_of(self.evaluators, self.given)

    @cached_property
    def answers(self) -> dict[tuple[str, str], Answer]:
        """By query id and agent."""
        made = {(case.query.id, one.subject): one.answer for case in self.cases for one in case.answers}
        return made | {(case.query.id, row.agent): row for case in self.cases for row in case.failed}

    @cached_property
    def queries(self) -> dict[str, Query]:
        """By id."""
        return {case.query.id: case.query for case in self.cases}

    @cached_property
    def _passages(self) -> dict[str, Passage]:
        return {one.id: one for case in self.cases for one in case.passages}

    @cached_property
    def _relevant(self) -> dict[tuple[str, str], bool]:
        return relevant_by_judges(self.evaluators, self.rows, self.thresholds)

    @cached_property
    def _found(self) -> dict[tuple[str, str], bool | None]:
        return {
            (query, agent): evidence_found(self.queries[query], answer, self._relevant, self._passages)
            for (query, agent), answer in self.answers.items()
        }

    def found(self, query: str, agent: str) -> bool | None:
        """Whether something relevant was retrieved for the answer; None where that is not known.

        Of an agent whose answers name no passage at all it is not known what was retrieved.
        """
        return self._found[query, agent] if agent in self._telling else None

    @cached_property
    def _telling(self) -> set[str]:
        return {agent for (_, agent), row in self.answers.items() if row.passages}

    @cached_property
    def _by_agent(self) -> dict[str, dict[str, AgentShares]]:
        return shares_by_agent(self.evaluators, self.rows, self.answers, self.thresholds, self.found)

    @cached_property
    def _draws(self) -> Resamples:
        return resamples(tuple(self.queries), 1, 0, clusters_of(list(self.queries.values())))

    def shares(self) -> ByThreshold:
        """Agent to criterion to shares."""
        return by_threshold(self._by_agent, self._draws)

    @cached_property
    def perturbed(self) -> Perturbed | None:
        """The flips where questions stand beside others made of them; None where none do."""
        lower = [c.name for one in self.evaluators for c in one.criteria if c.lower_is_better]
        agents = list(dict.fromkeys(agent for _, agent in self.answers))
        thresholds = answer_thresholds(self.evaluators, self.given)
        return flips_of(list(self.queries.values()), self.rows, thresholds, lower, agents)

    def told(self) -> tuple[tuple[Problem, ...], tuple[Insight, ...]]:
        """Problems and insights."""
        values = values_by_agent(self.evaluators, self.rows, self.answers)
        scales = {c.name: c for one in self.evaluators for c in one.criteria}
        limits = {name: limits_of(one.lowest, one.highest) for name, one in scales.items()}
        means: Figures = {
            agent: {name: self._draws.figure(row, limits[name]) for name, row in named.items()}
            for agent, named in values.items()
        }
        lower = [name for name, one in scales.items() if one.lower_is_better]
        queries = list(self.queries.values())
        found = self.perturbed
        return (
            (
                *problems(means, self.thresholds, lower, self.answers, self._draws),
                *(flip_problems(found) if found else ()),
            ),
            insights(self.evaluators, self.rows, values, self.answers, queries, self._draws),
        )

    def as_agent_evaluation(self) -> AgentEvaluation:
        """The rows as Agent Evaluation has them. Raises InputError where no judge by its method takes part."""
        agents = tuple(dict.fromkeys(agent for _, agent in self.answers))
        material = Material(tuple(self.queries.values()), agents, self._passages, self.answers)
        return judged_of(self.evaluators, self.rows, material, list(self.answers))

    def verdicts(self) -> list[AnswerVerdict]:
        """One for each answer, by query, then agent."""
        errors = {(row.query_id, row.subject, row.criterion): row.error for row in self.rows if row.error}
        return [self._verdict(query, agent, errors) for query, agent in self.answers]

    @cached_property
    def _theirs(self) -> dict[str, bool]:
        """Criterion that Agent Evaluation's verdict takes in its own way to whether it is one of passages."""
        made = {one.criteria[0].name: True for one in self.evaluators if takes_part(one) and one.unit == "passage"}
        made |= {one.criteria[0].name: False for one in self.evaluators if isinstance(one, DocumentRecall)}
        return {name: of_passages for name, of_passages in made.items() if name not in self.given}

    @cached_property
    def _by_passage(self) -> dict[tuple[str, str, str], Assessment]:
        return {(row.query_id, row.subject, row.criterion): row for row in self.rows}

    def _outcome(self, name: str, query: str, agent: str, passed: float | None, error: str | None) -> Outcome | None:
        if name not in self._theirs:
            return Outcome(name, None if passed is None else passed == 1, error)
        if not self._theirs[name]:
            return None
        named = dict.fromkeys(self.answers[query, agent].passages)
        return passages_outcome(name, {id: self._by_passage.get((query, id, name)) for id in named})

    def _verdict(self, query: str, agent: str, errors: Mapping[tuple[str, str, str], str]) -> AnswerVerdict:
        outcomes, causes = [], set()
        for name, one in self._by_agent.get(agent, {}).items():
            error = errors.get((query, agent, name))
            if query not in one.passed or (error or "").startswith(NO_VALUE):
                continue
            made = self._outcome(name, query, agent, one.passed[query], error)
            if made is None:
                continue
            outcomes.append(made)
            causes |= {one.causes[query]} if query in one.causes else set()
        found: Overall = overall(outcomes, ground_truth=expected_response(self.queries[query]) is not None)
        return AnswerVerdict(
            query_id=query,
            agent=agent,
            verdict=found.verdict,
            root_cause=found.root_cause,
            failure=min(causes) if found.verdict == "fail" and causes else None,
            fix=found.root_cause and fix_of(found.root_cause),
            failed=found.failed,
            errors=dict(found.errors),
        )
