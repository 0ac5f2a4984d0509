"""Pointwise: one answer by itself, on each criterion, 0 to 2: relevance, accuracy, completeness, precision.

Precision is the paper's word for naming the right product or part and mixing it up with no other. Accuracy is held
against the passages that the agent itself retrieved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, create_model

from ragassay.models.requests import Reply
from ragassay.prompts import Prompt
from ragassay.records import Answer, Judgment, Passage, Query

from ..engine.probability import distribution, most_likely
from ..engine.reply import LABELS, Judge, Label, Reason, Strict, value_of
from . import PROMPTS

DEFAULT_PROMPT = PROMPTS / "pointwise.md"
TOKEN_PROMPT = PROMPTS / "pointwise_token.md"


@dataclass(frozen=True)
class Answered:
    """An agent's answer to a query, with the passages it retrieved, best first (those that the corpus has)."""

    query: Query
    answer: Answer
    passages: tuple[Passage, ...]


class Grade(Strict):
    """One sentence on why, then the label."""

    reason: Reason
    label: Label


def reply_schema(criteria: Sequence[str]) -> type[BaseModel]:
    """The reply that grades every one of `criteria`, in their order."""
    fields: dict[str, Any] = dict.fromkeys(criteria, (Grade, ...))
    return create_model("PointwiseReply", __base__=Strict, __doc__="A grade for each criterion.", **fields)


def pointwise_judge(model: str, prompt: Prompt, criteria: Sequence[str]) -> Judge[Answered, Judgment]:
    """Asks for a reason and a label on every criterion in one request."""
    schema = reply_schema(criteria)

    def values(case: Answered) -> Mapping[str, Any]:
        return _values(case) | {"criteria": tuple(criteria)}

    def read(case: Answered, reply: Reply) -> list[Judgment]:
        value = value_of(reply, schema)
        grades: dict[str, Grade] = {criterion: getattr(value, criterion) for criterion in criteria}
        return [_judgment(case, model, name, label=g.label, reason=g.reason) for name, g in grades.items()]

    return Judge("pointwise", model, prompt, values, read, _failed_by(model, criteria), schema=schema)


def pointwise_token_judge(model: str, prompt: Prompt, criterion: str) -> Judge[Answered, Judgment]:
    """Asks for the label on one criterion as one token; probability and expected value from the distribution."""

    def values(case: Answered) -> Mapping[str, Any]:
        return _values(case) | {"criterion": criterion}

    def read(case: Answered, reply: Reply) -> list[Judgment]:
        label, probability, expected = most_likely(distribution(reply, LABELS))
        return [_judgment(case, model, criterion, label=label, probability=probability, expected=expected)]

    return Judge(f"pointwise-{criterion}", model, prompt, values, read, _failed_by(model, (criterion,)), tokens=LABELS)


def unjudged_answer(query_id: str, agent: str, model: str, criterion: str, error: str) -> Judgment:
    """The record of an answer that could not be judged on a criterion."""
    return Judgment(query_id=query_id, subject=agent, judge=model, criterion=criterion, label=None, error=error)


def _values(case: Answered) -> dict[str, Any]:
    return {"query": case.query, "answer": case.answer.answer, "passages": case.passages}


def _failed_by(model: str, criteria: Sequence[str]) -> Callable[[Answered, str], list[Judgment]]:
    def failed(case: Answered, error: str) -> list[Judgment]:
        return [unjudged_answer(case.query.id, case.answer.agent, model, name, error) for name in criteria]

    return failed


def _judgment(
    case: Answered,
    model: str,
    criterion: str,
    *,
    label: int,
    reason: str | None = None,
    probability: float | None = None,
    expected: float | None = None,
) -> Judgment:
    return Judgment(
        query_id=case.query.id,
        subject=case.answer.agent,
        judge=model,
        criterion=criterion,
        label=label,
        reason=reason,
        probability=probability,
        expected=expected,
    )
