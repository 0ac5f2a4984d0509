"""One answer by itself: on each criterion of the stage `judge`, 0 to 2 (relevance, accuracy, completeness, precision,
correctness); how near it is to the golden answer; and whether it answers at all.

The first four are as in RAGElo (Rackauckas, Câmara and Zavrel 2024, arXiv:2406.14783, appendix A.2), the user's intent
is worked out first, and the answer is held against the passages that were found relevant, with the notes on why.
Precision is the paper's word for naming the right product; a similar one lies between. By our strict prompts an answer
is held against the passages that its own agent retrieved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, create_model

from ragassay.models.encoders import check_encoder
from ragassay.models.requests import Request
from ragassay.prompts import Prompt
from ragassay.records import Answer, Assessment

from ...texts.by_model import Embedded
from ..engine.cases import AnswerCase, QueryCase, Setup, expected_response
from ..engine.evaluator import Criterion, Evaluator, LabelJudge, Steps
from ..engine.question import LABELS, Label, Reason, Strict, distribution, likeliest, read_value, yes_or_no
from ..judges import PROMPTS


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

    batch_label = "pointwise"

    def __init__(self, setup: Setup, prompt: Prompt, names: Sequence[str], *, intent: bool = False) -> None:
        super().__init__(setup)
        self.template, self.names = prompt, tuple(names)
        self.schema = reply_schema(names, intent=intent)

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


CORRECTNESS = "answer_correctness"
REFUSAL = "refusal"
_YES_NO = ("Yes", "No")


class CorrectnessReply(Strict):
    """One sentence on why, whether the answer is a refusal, then the label."""

    reason: Reason
    refusal: Literal["yes", "no"]
    label: Label


class AnswerCorrectness(AnswerJudge):
    """Asks for a reason, whether the answer is a refusal (1 or 0, recorded beside it and no grade), and the label.

    Accuracy asks whether what an answer says is right, so that one that says nothing, or answers another question, may
    be accurate. Correctness is held against the passages found relevant to the query, whoever found them, and the
    golden answer where there is one (`metadata.expected_response`). The prompts and the scale are ours.
    """

    batch_label = f"pointwise-{CORRECTNESS}"
    criteria = (Criterion(CORRECTNESS, 0, 2), Criterion(REFUSAL))

    def __init__(self, setup: Setup, prompt: Prompt) -> None:
        super().__init__(setup)
        self.template = prompt

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

    criteria = (Criterion(REFUSAL),)

    def __init__(self, setup: Setup, prompt: Prompt) -> None:
        super().__init__(setup, prompt, REFUSAL)

    def steps(self, case: AnswerCase) -> Steps:
        """One request. Raises InputError where the prompt names what it is not given."""
        (reply,) = yield [Request(self.template.render(self.values(case)), tokens=_YES_NO)]
        return [self.graded(case, yes_or_no(distribution(reply, _YES_NO)["Yes"], 0.5, 1))]


class GoldenSimilarity(Evaluator):
    """Compares each answer with `metadata.expected_response`: the cosine of the two.

    As Open RAG Eval's `semantic_similarity` (vectara/open-rag-eval, metrics/golden_answer_metrics.py). The embedding is
    the experiment's. Both texts are answers, so both get the same prefix, and what is longer than the model reads is
    embedded in stretches (`evaluate/texts/by_model.py`).
    """

    name = "golden_similarity"
    place = 306
    calls = 0.0
    family = "open-rag-eval"
    about = "how near the answer is to the expected response, by embeddings"
    reads = ("expected_response", "answer")
    asks = "model"
    source = "Open RAG Eval (vectara/open-rag-eval)"
    tags = ("valid and reliable", "outcomes analysis")
    needs = ("expected_response",)
    criteria = (Criterion(name, -1.0, 1.0, threshold=0.75),)

    @property
    def judge(self) -> str:
        """The embedding model."""
        return self.setup.embedding

    @property
    def embedded(self) -> Embedded:
        """The vectors, which it shares with the others that embed."""
        return self.setup.embeddings.of(self.setup.embedding)

    def check_at_hand(self) -> None:
        """Raises InputError where there is no embedding model."""
        check_encoder(self.setup.embedding, self.name)

    def prepare(self, cases: Sequence[AnswerCase]) -> None:
        """Embed every distinct text of all cases once."""
        self.embedded.add(text for case in cases for text in _texts(case))

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """No requests: everything is embedded at once."""
        return [self.assess(case, self.embedded.cosine(*_texts(case)))]


def _texts(case: AnswerCase) -> tuple[str, str]:
    return case.text, expected_response(case.query) or ""


RAW = "query_answered"
STRICT = "query_answered_strict"


class NoAnswer(LabelJudge):
    """One question for each answer; 1 for an answer and 0 for none.

    Open RAG Eval, `open_rag_eval/metrics/no_answer_metric.py` (https://github.com/vectara/open-rag-eval): whether it is
    right does not matter, and a part that is answered is enough.
    - query_answered, as there: over the answers that there are; an agent that failed to give one is counted as failed;
    - query_answered_strict: over all queries; an agent that failed to give an answer has not answered.
    """

    name = "no_answer"
    place = 305
    family = "open-rag-eval"
    about = "whether the query was answered at all, rightly or not; strictly, a failed answer counts as none"
    reads = ("question", "answer")
    source = "Open RAG Eval (vectara/open-rag-eval)"
    tags = ("valid and reliable", "accountable and transparent", "ongoing monitoring")
    labels = ("no", "yes")
    default_prompt: ClassVar = PROMPTS / "no_answer.md"
    criteria = (Criterion(RAW), Criterion(STRICT))

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
