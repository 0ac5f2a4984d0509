"""GPTScore: how likely a language model finds a text once a sentence before it has asked for a good one.

Fu et al. 2023, "GPTScore: Evaluate as You Desire" (arXiv:2302.04166), in the four forms and by the aspects that H2O
Eval Studio has. The value is the mean negative log-likelihood (`scored.py`), less is better: the paper's with its
sign turned. The templates are the paper's. Each aspect is a criterion, NAME_ASPECT; `aspects` chooses among them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from ....engine.cases import AnswerCase, expected_response
from ....engine.evaluator import NO_VALUE, Criterion, Options, check_passages, values_of
from ....engine.reply import JudgeFailed
from .scored import Given, LikelihoodEvaluator, likelihood, needed

PROMPTS = Path(__file__).with_name("prompts")

_SOURCE = "arXiv:2302.04166; https://docs.h2o.ai/eval-studio-docs/ (GPTScore)"

Translation = Literal["accuracy", "fluency", "quality"]
Rewriting = Literal["semantic_coverage", "factuality", "informativeness", "coherence", "relevance", "fluency"]
Summary = Literal[Rewriting, "consistency"]
Talk = Literal[
    "interest",
    "engagement",
    "understandability",
    "relevance",
    "specificity",
    "correctness",
    "appropriateness",
    "fluency",
]


class GptScoreOptions(Options):
    """aspects: those that are scored; a request each (two where it goes both ways)."""

    aspects: tuple[str, ...] = ()


class TranslationOptions(GptScoreOptions):
    """quality: of multidimensional quality metrics, translators' own."""

    aspects: tuple[Translation, ...] = Field(("accuracy", "fluency", "quality"), min_length=1)


class RewritingOptions(GptScoreOptions):
    """As the paper has them for a reference and a summary."""

    aspects: tuple[Rewriting, ...] = Field(
        ("semantic_coverage", "factuality", "informativeness", "coherence", "relevance", "fluency"), min_length=1
    )


class SummaryOptions(GptScoreOptions):
    """As the paper has them for a source and its summary."""

    aspects: tuple[Summary, ...] = Field(
        ("semantic_coverage", "factuality", "consistency", "informativeness", "coherence", "relevance", "fluency"),
        min_length=1,
    )


class TalkOptions(GptScoreOptions):
    """As the paper has them for a dialogue's turn."""

    aspects: tuple[Talk, ...] = Field(
        (
            "interest",
            "engagement",
            "understandability",
            "relevance",
            "specificity",
            "correctness",
            "appropriateness",
            "fluency",
        ),
        min_length=1,
    )


class GptScore(LikelihoodEvaluator):
    """The base of the four. ways: how many texts an aspect scores."""

    family = "eval-studio-likelihood"
    source = _SOURCE
    options: GptScoreOptions
    ways: ClassVar[int] = 1

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """One for each aspect."""
        return tuple(likelihood(f"{self.name}_{aspect}") for aspect in self.options.aspects)

    @property
    def n_calls(self) -> float:
        """A request for each aspect and way."""
        return super().n_calls and float(len(self.options.aspects) * self.ways)

    def given(self, case: AnswerCase) -> Mapping[str, Sequence[Given]]:
        """By aspect."""
        texts = self.texts(case)
        return {
            f"{self.name}_{aspect}": [self._asked(case, aspect, *one) for one in texts]
            for aspect in self.options.aspects
        }

    def texts(self, case: AnswerCase) -> Sequence[tuple[str, str, str, str]]:
        """(what the prompt shows, what parts it from the text, the text, what that is)."""
        raise NotImplementedError

    def _asked(self, case: AnswerCase, aspect: str, shown: str, between: str, text: str, of: str) -> Given:
        messages = self.prompt().render({**values_of(case), "aspect": aspect, "text": shown})
        return Given("\n\n".join(filter(None, (one.content for one in messages))) + between, text, of)


class _BothWays(GptScore):
    """The answer after the expected response, and this after the answer: the mean of the two."""

    needs = ("expected_response",)
    reads = ("expected_response", "answer")
    ways = 2

    def texts(self, case: AnswerCase) -> Sequence[tuple[str, str, str, str]]:
        """Both."""
        answer, expected = needed(case.text, "answer"), needed(expected_response(case.query) or "", "expected response")
        return [
            (expected, " ", answer, "answer after expected response"),
            (answer, " ", expected, "expected response after answer"),
        ]


class GptScoreTranslation(_BothWays):
    """Answer and expected response as translations of one text; of an empty answer there is none."""

    name = "gptscore_translation"
    about = "how likely answer and expected response are as each other's rewording, as translations are judged"
    options_type = TranslationOptions
    default_prompt = PROMPTS / "gptscore_translation.md"
    calls = 6.0


class GptScoreSummarizationWithReference(_BothWays):
    """Answer and expected response as summaries of one text; of an empty answer there is none."""

    name = "gptscore_summarization_with_reference"
    about = "how likely answer and expected response are as each other's rewording, as summaries are judged"
    options_type = RewritingOptions
    default_prompt = PROMPTS / "gptscore_summarization_with_reference.md"
    calls = 12.0


class GptScoreSummarizationWithoutReference(GptScore):
    """The answer as a summary of the passages, one after another; of an empty answer or no passages there is none.

    Eval Studio has the text to be summarized in the question; here it is what was retrieved.
    """

    name = "gptscore_summarization_without_reference"
    about = "how likely the answer is as a summary of the passages that the agent retrieved"
    reads = ("context", "answer")
    options_type = SummaryOptions
    default_prompt = PROMPTS / "gptscore_summarization_without_reference.md"
    calls = 7.0

    def texts(self, case: AnswerCase) -> Sequence[tuple[str, str, str, str]]:
        """The answer after the passages."""
        check_passages(case)
        if not case.passages:
            raise JudgeFailed(f"{NO_VALUE}the agent retrieved no passage")
        context = needed("\n\n".join(passage.text for passage in case.passages), "context")
        return [(context, "\n", needed(case.text, "answer"), "answer after the passages")]


class GptScoreQuestionAnswering(GptScore):
    """Question and answer as a conversation, and how likely `Answer: Yes` is to whether the answer is good."""

    name = "gptscore_question_answering"
    about = "how likely Yes is where it is asked whether the answer to the question is good"
    reads = ("question", "answer")
    options_type = TalkOptions
    default_prompt = PROMPTS / "gptscore_question_answering.md"
    calls = 8.0

    def texts(self, case: AnswerCase) -> Sequence[tuple[str, str, str, str]]:
        """`Answer: Yes`, after question and answer."""
        question, answer = needed(case.query.text, "question"), needed(case.text, "answer")
        return [(f"human: {question}\nAI: {answer}", "\n", "Answer: Yes", "Answer: Yes")]
