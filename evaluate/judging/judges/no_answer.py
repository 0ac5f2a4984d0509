"""No-answer detection: does the answer answer the query at all? The means are the share of questions answered.

Open RAG Eval, `open_rag_eval/metrics/no_answer_metric.py` (https://github.com/vectara/open-rag-eval): whether it is
right does not matter, and a part that is answered is enough. Label 1 for yes, 0 for no.

- query_answered, as there: over the answers that there are; an agent that failed to give one is counted as failed;
- query_answered_strict: over all queries; an agent that failed to give an answer has not answered.
"""

from __future__ import annotations

from typing import ClassVar

from ragassay.records import Answer, Assessment

from ..engine.cases import AnswerCase, QueryCase
from ..engine.evaluator import Criterion, LabelJudge, Steps
from . import PROMPTS

RAW = "query_answered"
STRICT = "query_answered_strict"


class NoAnswer(LabelJudge):
    """One question for each answer; 1 for an answer and 0 for none."""

    name = "no_answer"
    family = "open-rag-eval"
    about = "whether the query was answered at all, rightly or not; strictly, a failed answer counts as none"
    reads = ("question", "answer")
    source = "Open RAG Eval (vectara/open-rag-eval)"
    tags = ("valid and reliable", "accountable and transparent", "ongoing monitoring")
    labels = ("no", "yes")
    default_prompt: ClassVar = PROMPTS / "no_answer.md"

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """`query_answered` and `query_answered_strict`: 0 or 1."""
        return (Criterion(RAW), Criterion(STRICT))

    def steps(self, case: AnswerCase) -> Steps:
        """One request for both."""
        question = self.asked
        (reply,) = yield [question.request(self.values(case))]
        grade = question.read(reply)
        return [self.graded(case, grade), self.graded(case, grade._replace(reason=None), criterion=STRICT)]

    def unanswered(self, case: QueryCase, answer: Answer) -> list[Assessment]:
        """An error for the share of the answers that there are; strictly, not answered."""
        failed, _ = super().unanswered(case, answer)
        why = f"the agent gave no answer: {answer.error}"
        return [failed, self.assess(case, 0, criterion=STRICT, subject=answer.agent, reason=why)]
