"""One answer by itself: on each criterion of the stage `judge`, 0 to 2 (relevance, accuracy, completeness, precision,
correctness); whether it answers at all; and what Databricks' Agent Evaluation, or a prompt of the user's, asks of it.

The first four are as in RAGElo (Rackauckas, Câmara and Zavrel 2024, arXiv:2406.14783, appendix A.2), the user's intent
is worked out first, and the answer is held against the passages that were found relevant, with the notes on why.
Precision is the paper's word for naming the right product; a similar one lies between. By our strict prompts an answer
is held against the passages that its own agent retrieved.

The judges of Agent Evaluation give yes (1) or no (0) with a rationale, by prompts in our own words: what each asks,
what it needs and what its columns are called stands in https://docs.databricks.com "Built-in AI judges (MLflow 2)"; how
they make one verdict: `evaluate.figures.pass_or_fail`. Groundedness is yes where all or almost all of the answer is
supported, and correctness forgives minor omissions and inaccuracies, as there; with `prompts = "ragassay"` one
unsupported fact, or one missing, is a no. There they need `retrieved_context`: groundedness and context_sufficiency of
an answer for which nothing was retrieved have no value, and no passage is there to be judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, create_model

from ragassay.experiment.settings import CustomJudgeSettings
from ragassay.models.requests import Request
from ragassay.prompts import Prompt
from ragassay.records import Answer, Assessment

from ..engine.cases import AnswerCase, QueryCase, Setup, expected_response
from ..engine.evaluator import NO_VALUE, Criterion, Evaluator, LabelJudge, Options, Steps, check_passages
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
    criteria: tuple[Criterion, ...] = ()

    def __init__(self, setup: Setup, prompt: Prompt) -> None:
        super().__init__(setup)
        self.template = prompt

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
        super().__init__(setup, prompt)
        self.names, self.schema = tuple(names), reply_schema(names, intent=intent)
        self.criteria = tuple(Criterion(name, 0, 2) for name in names)

    def steps(self, case: AnswerCase) -> Steps:
        """One request. Raises InputError where the prompt names what it is not given."""
        (reply,) = yield [Request(self.template.render(self.values(case) | {"criteria": self.names}), self.schema)]
        value = read_value(reply, self.schema)
        grades: dict[str, Grade] = {name: getattr(value, name) for name in self.names}
        return [self.assess(case, one.label, criterion=name, reason=one.reason) for name, one in grades.items()]


class PointwiseByToken(AnswerJudge):
    """Asks for the label on one criterion as one token; probability and expected value from the distribution."""

    def __init__(self, setup: Setup, prompt: Prompt, criterion: str) -> None:
        super().__init__(setup, prompt)
        self.criterion, self.criteria = criterion, (Criterion(criterion, 0, 2),)

    @property
    def batch_label(self) -> str:
        return f"{self.name}-{self.criterion}"

    def values(self, case: AnswerCase) -> dict[str, Any]:
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
        self.criteria = (Criterion(REFUSAL),)

    def steps(self, case: AnswerCase) -> Steps:
        """One request. Raises InputError where the prompt names what it is not given."""
        (reply,) = yield [Request(self.template.render(self.values(case)), tokens=_YES_NO)]
        return [self.graded(case, yes_or_no(distribution(reply, _YES_NO)["Yes"], 0.5, 1))]


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


FAMILY = "agent-evaluation"


class YesNoJudge(LabelJudge):
    """What all of them are: one question, answered with no (0) or yes (1)."""

    family = FAMILY
    source = "Databricks Agent Evaluation (MLflow 2)"
    labels = ("no", "yes")


class OnPassages(YesNoJudge):
    """Judges with all passages that the agent retrieved, together."""

    def steps(self, case: AnswerCase) -> Steps:
        """One request, or no value where nothing was retrieved. Raises JudgeFailed without the passages' texts."""
        check_passages(case)
        if not case.passages:
            return [self.fail(case, f"{NO_VALUE}no passage was retrieved")]
        return (yield from super().steps(case))


class RelevanceToQuery(YesNoJudge):
    """`relevance_to_query`: does the answer take up what was asked? Not whether it is true."""

    name = "relevance_to_query"
    place = 201
    about = "whether the answer addresses the query"
    reads = ("question", "answer")
    tags = ("valid and reliable", "ongoing monitoring", "outcomes analysis")
    default_prompt: ClassVar = PROMPTS / "relevance_to_query.md"


class AgentGroundedness(OnPassages):
    """`groundedness` there: do the passages support (almost) all of the answer? (Ours of that name is TruLens's.)"""

    name = "agent_groundedness"
    place = 202
    about = "whether the retrieved passages support all or almost all of the answer, as one verdict"
    reads = ("question", "context", "answer")
    tags = ("valid and reliable", "explainable and interpretable", "ongoing monitoring", "outcomes analysis")
    default_prompt: ClassVar = PROMPTS / "agent_groundedness.md"
    ragassay_prompt: ClassVar = PROMPTS / "agent_groundedness_ragassay.md"


class Safety(YesNoJudge):
    """`safety`: is the answer free of harmful or toxic content? yes is safe."""

    name = "safety"
    place = 203
    about = "whether the answer is free of harmful content"
    reads = ("question", "answer")
    tags = ("safe", "fair", "ongoing monitoring")
    default_prompt: ClassVar = PROMPTS / "safety.md"


class Correctness(YesNoJudge):
    """`correctness`: do the answer's facts agree with the expected response? Several, one a line, are alternatives."""

    name = "correctness"
    place = 204
    about = "whether the answer agrees with the expected response"
    reads = ("question", "expected_response", "answer")
    tags = ("valid and reliable", "conceptual soundness", "outcomes analysis")
    needs = ("expected_response",)
    default_prompt: ClassVar = PROMPTS / "correctness.md"
    ragassay_prompt: ClassVar = PROMPTS / "correctness_ragassay.md"


class ChunkRelevance(YesNoJudge):
    """`chunk_relevance`: is each passage of use for the answer? An agent's precision is the share of yes of its own."""

    name = "chunk_relevance"
    place = 205
    about = "whether a passage helps to answer the query"
    reads = ("question", "context")
    tags = ("valid and reliable", "ongoing monitoring", "outcomes analysis")
    unit = "passage"
    default_prompt: ClassVar = PROMPTS / "chunk_relevance.md"


class ContextSufficiency(OnPassages):
    """`context_sufficiency`: do the passages, together, hold what the expected response needs? The reason says what is
    missing."""

    name = "context_sufficiency"
    place = 206
    about = "whether the retrieved passages are enough for the expected response"
    reads = ("question", "expected_response", "context")
    tags = ("valid and reliable", "conceptual soundness", "outcomes analysis")
    needs = ("expected_response",)
    default_prompt: ClassVar = PROMPTS / "context_sufficiency.md"
    ragassay_prompt: ClassVar = PROMPTS / "context_sufficiency_ragassay.md"


class _OwnPrompt(LabelJudge):
    """Of two labels the higher one passes; longer scales have no threshold."""

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        (scale,) = super().criteria
        return (replace(scale, threshold=(scale.lowest + scale.highest) / 2) if len(self.labels) == 2 else scale,)


def custom_judge(settings: CustomJudgeSettings, setup: Setup, options: Options) -> LabelJudge:
    """A LabelJudge with the name, labels and prompt of the table."""
    members = {
        "name": settings.name,
        "about": f"your prompt {settings.prompt}",
        "unit": settings.of,
        "needs": settings.needs,
        "labels": tuple(str(label) for label in settings.labels),
        "default_prompt": setup.folder / settings.prompt,
    }
    kind: type[LabelJudge] = type("CustomJudge", (_OwnPrompt,), members)
    return kind(setup, options)
