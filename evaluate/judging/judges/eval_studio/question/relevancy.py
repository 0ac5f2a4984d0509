"""Answer relevancy: how near the question is to those that a judge writes for the answer.

Ragas' response relevancy (Es et al. 2024, arXiv:2309.15217, section 3; `_answer_relevance.py` in
explodinggradients/ragas), which is H2O Eval Studio's "answer relevancy": with N questions written for the answer,

    mean over i of cosine(question, written question i), and 0 where the answer is noncommittal.

The 0 is the source's rule for an answer that evades the question; it is no missing value. There the judge is asked N
times with the same request; here once for N questions (3, as there) that differ. It sees the answer alone. There is no
value where the answer or the question holds no words. The prompt is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, Field, create_model

from ragassay.models.encoders import check_encoder
from ragassay.models.requests import Request

from .....texts.embedded import Embedded
from ....engine.cases import AnswerCase
from ....engine.evaluator import NO_VALUE, Criterion, Evaluator, Steps
from ....engine.reply import JudgeFailed, Reason, Strict, read_value
from .. import H2O_PAGE, TAGS
from ..by_embedding import EmbeddingOptions
from ..words import check_words, has_words

PROMPT = Path(__file__).with_name("prompts") / "answer_relevancy.md"


class RelevancyOptions(EmbeddingOptions):
    """`[evaluate.settings.answer_relevancy]`. questions: how many the judge writes for an answer."""

    questions: int = Field(3, ge=1, le=10)


def _asked(text: str) -> str:
    if not has_words(text):
        raise ValueError("a question holds no words")
    return text.strip()


Question = Annotated[str, AfterValidator(_asked)]


@lru_cache
def questions_schema(count: int) -> type[BaseModel]:
    """The reply: the reason, whether the answer is noncommittal, then the questions as `question_1` and so on."""
    fields: Any = {"reason": (Reason, ...), "noncommittal": (Literal["no", "yes"], ...)}
    fields |= {f"question_{number}": (Question, ...) for number in range(1, count + 1)}
    return create_model("WrittenQuestions", __base__=Strict, __doc__="What the answer may answer.", **fields)


class AnswerRelevancy(Evaluator):
    """One request an answer, then embeddings of all answers' questions together."""

    name = "answer_relevancy"
    family = "eval-studio-question"
    about = "how near the question is to those that the judge writes for the answer; 0 for one that evades it"
    reads = ("question", "answer")
    source = f"{H2O_PAGE} (Answer Relevancy); arXiv:2309.15217"
    tags = (*TAGS, "accountable and transparent", "valid and reliable", "ongoing monitoring")
    default_prompt: ClassVar = PROMPT
    options_type = RelevancyOptions
    options: RelevancyOptions

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The mean cosine."""
        return (Criterion(self.name, -1.0, 1.0, threshold=0.75),)

    @property
    def embedded(self) -> Embedded:
        """The vectors, which it shares with the others that embed by the same model."""
        return self.setup.embeddings.of(self.options.embedding or self.setup.embedding)

    def check_at_hand(self) -> None:
        """Raises InputError where there is no embedding model."""
        check_encoder(self.options.embedding or self.setup.embedding, self.name)

    def steps(self, case: AnswerCase) -> Steps:
        """One request; then it waits for all others, so that their questions are embedded with its own."""
        check_words(case.text, "answer")
        check_words(case.query.text, "question")
        count = self.options.questions
        values = {"answer": case.text, "count": count, "criteria": self.options.criteria}
        (reply,) = yield [Request(self.prompt().render(values), questions_schema(count))]
        value = read_value(reply, questions_schema(count))
        if value.noncommittal == "yes":
            return [self.assess(case, 0.0, reason=value.reason, details=[{"noncommittal": True}])]
        written = [getattr(value, f"question_{number}") for number in range(1, count + 1)]
        self.embedded.add([case.query.text, *written])
        yield []
        scores = self._cosines(case.query.text, written)
        details = [{"question": text, "score": score} for text, score in zip(written, scores, strict=True)]
        return [self.assess(case, sum(scores) / len(scores), reason=value.reason, details=details)]

    def _cosines(self, question: str, written: Sequence[str]) -> list[float]:
        try:
            return [self.embedded.cosine(question, text) for text in written]
        except ValueError as error:
            raise JudgeFailed(f"{NO_VALUE}{error}") from None
