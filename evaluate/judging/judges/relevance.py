"""Relevance: does a pooled passage help to answer the query? 0 not, 1 somewhat, 2 very."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragassay.models.requests import Reply
from ragassay.prompts import Prompt
from ragassay.records import Judgment, Passage, Query

from ..engine.probability import Graded, distribution, most_likely, yes_or_no
from ..engine.reply import LABELS, Judge, Label, Reason, Strict, value_of
from . import PROMPTS

DEFAULT_PROMPT = PROMPTS / "relevance.md"
TOKEN_PROMPT = PROMPTS / "relevance_token.md"
YES_NO_PROMPT = PROMPTS / "relevance_yes_no.md"

CRITERION = "relevance"
VERY_RELEVANT = 2


@dataclass(frozen=True)
class Pooled:
    """A passage that at least one agent retrieved for the query."""

    query: Query
    passage: Passage


class RelevanceReply(Strict):
    """One sentence on why, then the label."""

    reason: Reason
    label: Label


def relevance_judge(model: str, prompt: Prompt) -> Judge[Pooled, Judgment]:
    """Asks for a reason and a label."""

    def read(case: Pooled, reply: Reply) -> tuple[Judgment]:
        value = value_of(reply, RelevanceReply)
        return (_judgment(case, model, label=value.label, reason=value.reason),)

    return Judge("relevance", model, prompt, _values, read, _failed_by(model), schema=RelevanceReply)


def relevance_token_judge(model: str, prompt: Prompt) -> Judge[Pooled, Judgment]:
    """Asks for the label as one token; label, probability and expected value come from the distribution."""

    def read(case: Pooled, reply: Reply) -> tuple[Judgment]:
        return (_graded(case, model, most_likely(distribution(reply, LABELS))),)

    return Judge("relevance", model, prompt, _values, read, _failed_by(model), tokens=LABELS)


def relevance_yes_no_judge(model: str, prompt: Prompt, threshold: float) -> Judge[Pooled, Judgment]:
    """Asks for Yes or No; very relevant (2) where the probability of Yes reaches `threshold`, else not (0)."""

    def read(case: Pooled, reply: Reply) -> tuple[Judgment]:
        p_yes = distribution(reply, ("Yes", "No"))["Yes"]
        return (_graded(case, model, yes_or_no(p_yes, threshold, VERY_RELEVANT)),)

    return Judge("relevance", model, prompt, _values, read, _failed_by(model), tokens=("Yes", "No"))


def unjudged_relevance(query_id: str, passage_id: str, model: str, error: str) -> Judgment:
    """The record of a passage that could not be judged."""
    return Judgment(query_id=query_id, subject=passage_id, judge=model, criterion=CRITERION, label=None, error=error)


def qrels_of(judgments: Sequence[Judgment]) -> dict[str, dict[str, int]]:
    """Query id to passage id to label; a passage that could not be judged is absent, that is, unjudged."""
    qrels: dict[str, dict[str, int]] = {}
    for judgment in judgments:
        if judgment.label is not None:
            qrels.setdefault(judgment.query_id, {})[judgment.subject] = int(judgment.label)
    return qrels


def _values(case: Pooled) -> Mapping[str, Any]:
    return {"query": case.query, "passage": case.passage}


def _failed_by(model: str) -> Callable[[Pooled, str], tuple[Judgment]]:
    def failed(case: Pooled, error: str) -> tuple[Judgment]:
        return (unjudged_relevance(case.query.id, case.passage.id, model, error),)

    return failed


def _graded(case: Pooled, model: str, grade: Graded) -> Judgment:
    return _judgment(case, model, label=grade.label, probability=grade.probability, expected=grade.expected)


def _judgment(
    case: Pooled,
    model: str,
    *,
    label: int,
    reason: str | None = None,
    probability: float | None = None,
    expected: float | None = None,
) -> Judgment:
    return Judgment(
        query_id=case.query.id,
        subject=case.passage.id,
        judge=model,
        criterion=CRITERION,
        label=label,
        reason=reason,
        probability=probability,
        expected=expected,
    )
