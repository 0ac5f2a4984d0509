"""Pointwise: one answer by itself, on each criterion, 0 to 2: relevance, accuracy, completeness, precision.

As in RAGElo (Rackauckas, Câmara and Zavrel 2024, arXiv:2406.14783, appendix A.2), the user's intent is worked out
first, and the answer is held against the passages that were found relevant, with the notes on why. Precision is the
paper's word for naming the right product; a similar one lies between. By our strict prompts an answer is held against
the passages that its own agent retrieved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, create_model

from ragassay.models.requests import Request
from ragassay.prompts import Prompt

from ..engine.cases import AnswerCase
from ..engine.evaluator import Criterion, Evaluator, Steps
from ..engine.judge import Setup
from ..engine.labels import LABELS, Label
from ..engine.probability import distribution, likeliest
from ..engine.reply import Reason, Strict, read_value
from . import PROMPTS

DEFAULT_PROMPT = PROMPTS / "pointwise.md"
TOKEN_PROMPT = PROMPTS / "pointwise_token.md"
STRICT_PROMPT = PROMPTS / "pointwise_strict.md"
STRICT_TOKEN_PROMPT = PROMPTS / "pointwise_strict_token.md"


class Grade(Strict):
    """One sentence on why, then the label."""

    reason: Reason
    label: Label


def reply_schema(criteria: Sequence[str], *, intent: bool = False) -> type[BaseModel]:
    """The reply that grades every one of `criteria`, in their order; before them, where wished, the user's intent."""
    fields: dict[str, Any] = {"intent": (Reason, ...)} if intent else {}
    fields |= dict.fromkeys(criteria, (Grade, ...))
    return create_model("PointwiseReply", __base__=Strict, __doc__="A grade for each criterion.", **fields)


class AnswerJudge(Evaluator):
    """Judges an answer by a prompt, which may show what was found relevant to the query (`evidence`)."""

    name = "pointwise"
    template: Prompt

    @property
    def needs_evidence(self) -> bool:
        """Whether it can be asked only when the passages have been judged."""
        return "evidence" in self.template.names

    def values(self, case: AnswerCase) -> dict[str, Any]:
        """What the prompt is filled with."""
        known = {} if case.evidence is None else {"evidence": case.evidence}
        return {"query": case.query, "answer": case.text, "passages": case.passages, **known}


class Pointwise(AnswerJudge):
    """Asks for a reason and a label on every criterion in one request; with `intent` for the user's intent before."""

    def __init__(self, setup: Setup, prompt: Prompt, names: Sequence[str], *, intent: bool = False) -> None:
        super().__init__(setup)
        self.template, self.names = prompt, tuple(names)
        self.schema = reply_schema(names, intent=intent)

    @property
    def batch_label(self) -> str:
        """`pointwise`."""
        return self.name

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Those that were named, from 0 to 2."""
        return tuple(Criterion(name, 0, 2) for name in self.names)

    def steps(self, case: AnswerCase) -> Steps:
        """One request. Raises InputError where the prompt names what it is not given."""
        (reply,) = yield [Request(self.template.render(self.values(case) | {"criteria": self.names}), self.schema)]
        value = read_value(reply, self.schema)
        grades: dict[str, Grade] = {name: getattr(value, name) for name in self.names}
        return [self.assess(case, one.label, criterion=name, reason=one.reason) for name, one in grades.items()]


class PointwiseByToken(AnswerJudge):
    """Asks for the label on one criterion as one token; probability and expected value from the distribution."""

    def __init__(self, setup: Setup, prompt: Prompt, criterion: str) -> None:
        super().__init__(setup)
        self.template, self.criterion = prompt, criterion

    @property
    def batch_label(self) -> str:
        """`pointwise-CRITERION`."""
        return f"{self.name}-{self.criterion}"

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """One, from 0 to 2."""
        return (Criterion(self.criterion, 0, 2),)

    def values(self, case: AnswerCase) -> dict[str, Any]:
        """With the criterion."""
        return super().values(case) | {"criterion": self.criterion}

    def steps(self, case: AnswerCase) -> Steps:
        """One request. Raises InputError where the prompt names what it is not given."""
        (reply,) = yield [Request(self.template.render(self.values(case)), tokens=LABELS)]
        return [self.graded(case, likeliest(distribution(reply, LABELS)))]
