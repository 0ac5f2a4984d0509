"""Pointwise: one answer by itself, on each criterion, 0 to 2: relevance, accuracy, completeness, precision.

Precision is the paper's word for naming the right product or part and mixing it up with no other. Accuracy is held
against the passages that the agent itself retrieved.
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


class Grade(Strict):
    """One sentence on why, then the label."""

    reason: Reason
    label: Label


def reply_schema(criteria: Sequence[str]) -> type[BaseModel]:
    """The reply that grades every one of `criteria`, in their order."""
    fields: dict[str, Any] = dict.fromkeys(criteria, (Grade, ...))
    return create_model("PointwiseReply", __base__=Strict, __doc__="A grade for each criterion.", **fields)


class Pointwise(Evaluator):
    """Asks for a reason and a label on every criterion in one request."""

    name = "pointwise"

    def __init__(self, setup: Setup, prompt: Prompt, names: Sequence[str]) -> None:
        super().__init__(setup)
        self.template, self.names, self.schema = prompt, tuple(names), reply_schema(names)

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
        (reply,) = yield [Request(self.template.render(_values(case) | {"criteria": self.names}), schema=self.schema)]
        value = read_value(reply, self.schema)
        grades: dict[str, Grade] = {name: getattr(value, name) for name in self.names}
        return [self.assess(case, one.label, criterion=name, reason=one.reason) for name, one in grades.items()]


class PointwiseByToken(Evaluator):
    """Asks for the label on one criterion as one token; probability and expected value from the distribution."""

    name = "pointwise"

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

    def steps(self, case: AnswerCase) -> Steps:
        """One request. Raises InputError where the prompt names what it is not given."""
        (reply,) = yield [Request(self.template.render(_values(case) | {"criterion": self.criterion}), tokens=LABELS)]
        return [self.graded(case, likeliest(distribution(reply, LABELS)))]


def _values(case: AnswerCase) -> dict[str, Any]:
    return {"query": case.query, "answer": case.text, "passages": case.passages}
