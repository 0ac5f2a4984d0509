"""UMBRELA: relevance grades of 0 to 3 by steps (Upadhyay et al. 2024, arXiv:2406.06519, figure 1), in our words.

The intent behind the query, how the passage matches it, how trustworthy it is, and last the final grade (after Bing's
prompt: Thomas et al. 2024, SIGIR, section 3.2). A passage is relevant from 2. P@k, AP@k and RR come from the grades.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator

from ..engine.cases import PassageCase
from ..engine.evaluator import LabelJudge, Steps
from ..engine.labels import whole
from ..engine.reply import Reason, Strict, read_value
from . import PROMPTS

RELEVANT = 2
"""The lowest grade that counts as relevant."""

Grade = Annotated[Literal[0, 1, 2, 3], BeforeValidator(whole)]


class UmbrelaReply(Strict):
    """The steps in their order; only the final grade counts."""

    intent: Reason
    match: Grade
    trustworthiness: Grade
    reason: Reason
    final: Grade


class Umbrela(LabelJudge):
    """Grades each passage by itself."""

    name = "umbrela"
    family = "open-rag-eval"
    about = "how well a passage answers the query, by steps; relevant from 2"
    unit = "passage"
    labels = ("0", "1", "2", "3")
    default_prompt: ClassVar = PROMPTS / "umbrela.md"

    def steps(self, case: PassageCase) -> Steps:
        """One request, by steps, or in mode "probability" for the grade alone."""
        if self.setup.mode == "probability":
            return (yield from super().steps(case))
        (reply,) = yield [self.asked.request(self.values(case), schema=UmbrelaReply)]
        value: UmbrelaReply = read_value(reply, UmbrelaReply)
        steps = {"intent": value.intent, "match": value.match, "trustworthiness": value.trustworthiness}
        return [self.assess(case, value.final, reason=value.reason, details=[steps])]
