"""The judges of Databricks' Agent Evaluation: yes or no with a rationale, prompts in our own words.

Groundedness is yes where all or almost all of the answer is supported, and correctness forgives minor omissions and
inaccuracies, as there; with `prompts = "ragassay"` one unsupported fact, or one missing, is a no.

What each asks, what it needs and what its columns are called: https://docs.databricks.com "Built-in AI judges (MLflow
2)"; how they make one verdict: `evaluate.figures.root_cause`. There they need `retrieved_context`: groundedness and
context_sufficiency of an answer for which nothing was retrieved have no value, and no passage is there to be judged.
Labels are 1 for yes, 0 for no.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from ragassay.experiment.settings import CustomJudgeSettings

from ..engine.cases import AnswerCase, Setup
from ..engine.evaluator import NO_VALUE, Criterion, LabelJudge, Options, Steps, check_passages
from ..judges import PROMPTS

FAMILY = "agent-evaluation"
NOTHING_RETRIEVED = f"{NO_VALUE}no passage was retrieved"


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
            return [self.fail(case, NOTHING_RETRIEVED)]
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
        """One, from the lowest label to the highest."""
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
