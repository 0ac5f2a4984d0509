"""Answer correctness: does the user get the right answer, to the point? 0 wrong, 1 in part, 2 right; and refusals.

Accuracy asks whether what an answer says is right, so that one that says nothing, or answers another question, may be
accurate. Correctness is held against the passages found relevant to the query, whoever found them, and the golden
answer where there is one (`metadata.expected_response`). Whether the answer declines (`refusal`, 1 or 0) is recorded
beside it and is no grade. The prompts and the scale are ours.
"""

from __future__ import annotations

from typing import Any, Literal

from ragassay.models.requests import Request
from ragassay.prompts import Prompt

from ..engine.cases import AnswerCase, expected_response
from ..engine.evaluator import Criterion, Steps
from ..engine.judge import Setup
from ..engine.labels import Label
from ..engine.probability import distribution, yes_or_no
from ..engine.reply import Reason, Strict, read_value
from . import PROMPTS
from .pointwise import AnswerJudge, PointwiseByToken

DEFAULT_PROMPT = PROMPTS / "answer_correctness.md"
TOKEN_PROMPT = PROMPTS / "answer_correctness_token.md"

CORRECTNESS = "answer_correctness"
REFUSAL = "refusal"
_YES_NO = ("Yes", "No")


class CorrectnessReply(Strict):
    """One sentence on why, whether the answer is a refusal, then the label."""

    reason: Reason
    refusal: Literal["yes", "no"]
    label: Label


class AnswerCorrectness(AnswerJudge):
    """Asks for a reason, whether the answer is a refusal, and the label."""

    def __init__(self, setup: Setup, prompt: Prompt) -> None:
        super().__init__(setup)
        self.template = prompt

    @property
    def batch_label(self) -> str:
        """`pointwise-answer_correctness`."""
        return f"{self.name}-{CORRECTNESS}"

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The label, from 0 to 2, and the refusal, 0 or 1."""
        return (Criterion(CORRECTNESS, 0, 2), Criterion(REFUSAL))

    def values(self, case: AnswerCase) -> dict[str, Any]:
        """With the golden answer, "" where there is none."""
        return super().values(case) | {"expected_response": expected_response(case.query) or ""}

    def steps(self, case: AnswerCase) -> Steps:
        """One request. Raises InputError where the prompt names what it is not given."""
        (reply,) = yield [Request(self.template.render(self.values(case)), CorrectnessReply)]
        value: CorrectnessReply = read_value(reply, CorrectnessReply)
        return [
            self.assess(case, value.label, criterion=CORRECTNESS, reason=value.reason),
            self.assess(case, float(value.refusal == "yes"), criterion=REFUSAL, reason=value.reason),
        ]


class CorrectnessByToken(PointwiseByToken):
    """Asks for the label as one token."""

    def __init__(self, setup: Setup, prompt: Prompt, criterion: str = CORRECTNESS) -> None:
        super().__init__(setup, prompt, criterion)

    def values(self, case: AnswerCase) -> dict[str, Any]:
        """With the golden answer, "" where there is none."""
        return super().values(case) | {"expected_response": expected_response(case.query) or ""}


class RefusalByToken(CorrectnessByToken):
    """Asks by Yes or No whether the answer is a refusal, which it is where Yes is at least as likely as No."""

    def __init__(self, setup: Setup, prompt: Prompt) -> None:
        super().__init__(setup, prompt, REFUSAL)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """One, 0 or 1."""
        return (Criterion(REFUSAL),)

    def steps(self, case: AnswerCase) -> Steps:
        """One request. Raises InputError where the prompt names what it is not given."""
        (reply,) = yield [Request(self.template.render(self.values(case)), tokens=_YES_NO)]
        return [self.graded(case, yes_or_no(distribution(reply, _YES_NO)["Yes"], 0.5, 1))]
