"""UMBRELA: relevance grades of 0 to 3 (Upadhyay et al. 2024, arXiv:2406.06519), in our words.

Two prompts are published with it (castorini/umbrela, `qrel_zeroshot_bing` and `qrel_zeroshot_basic`). "bing", which
Open RAG Eval uses, goes by steps: the intent behind the query, how the passage matches it, how trustworthy it is, and
last the final grade (after Bing's prompt: Thomas et al. 2024, SIGIR, section 3.2). "basic" asks for an explanation and
the grade. A passage is relevant from 2. P@k, AP@k and RR come from the grades.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator

from ..engine.cases import PassageCase
from ..engine.evaluator import Criterion, LabelJudge, Options, Steps
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


class UmbrelaOptions(Options):
    """`[evaluate.settings.umbrela]` with `variant`: which of the two published prompts, "bing" or "basic"."""

    variant: Literal["bing", "basic"] = "bing"


class Umbrela(LabelJudge):
    """Grades each passage by itself."""

    name = "umbrela"
    family = "open-rag-eval"
    about = "how well a passage answers the query; relevant from 2"
    reads = ("question", "context")
    source = "Upadhyay et al. 2024, arXiv:2406.06519"
    tags = ("valid and reliable", "ongoing monitoring", "outcomes analysis")
    unit = "passage"
    labels = ("0", "1", "2", "3")
    options_type = UmbrelaOptions
    options: UmbrelaOptions
    default_prompt: ClassVar = PROMPTS / "umbrela_bing.md"
    ragassay_prompt: ClassVar = PROMPTS / "umbrela_ragassay.md"

    @property
    def built_in_prompt(self) -> Path | None:
        """Of the variant; only of "bing" there is a wording of ours."""
        return PROMPTS / "umbrela_basic.md" if self.options.variant == "basic" else super().built_in_prompt

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The grade, good enough where it is relevant."""
        return (Criterion(self.name, 0, 3, threshold=RELEVANT),)

    def steps(self, case: PassageCase) -> Steps:
        """One request, by steps with "bing"; with "basic" for reason and grade, in mode "probability" for the grade."""
        if self.setup.mode == "probability" or self.options.variant == "basic":
            return (yield from super().steps(case))
        (reply,) = yield [self.asked.request(self.values(case), schema=UmbrelaReply)]
        value: UmbrelaReply = read_value(reply, UmbrelaReply)
        steps = {"intent": value.intent, "match": value.match, "trustworthiness": value.trustworthiness}
        return [self.assess(case, value.final, reason=value.reason, details=[steps])]
