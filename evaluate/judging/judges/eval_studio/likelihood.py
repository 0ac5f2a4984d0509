"""How likely a language model finds texts: GPTScore in four forms, and perplexity; less is better."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, inf
from pathlib import Path
from statistics import mean
from typing import Any, ClassVar, Literal, NamedTuple, get_args

from pydantic import Field

from ragassay.errors import InputError
from ragassay.models.likelihood import load_causal
from ragassay.models.requests import Request
from ragassay.prompts import Message
from ragassay.records import Assessment

from ...engine.cases import AnswerCase, Setup, expected_response
from ...engine.evaluator import NO_VALUE, Criterion, Evaluator, Options, Steps, values_of
from ...engine.question import JudgeFailed
from .by_embedding import checked_passages


class Given(NamedTuple):
    """A text whose likelihood is wanted, after a prompt; `of` says which of several it is."""

    prompt: str
    text: str
    of: str


class LikelihoodEvaluator(Evaluator):
    """Asks `[evaluate] likelihood_model` for the log-probabilities of texts, each distinct one once.

    Fu et al. 2023 (arXiv:2302.04166), equation 1 with equal weights, and its sign turned: the mean over a text's tokens
    of -log p(token | prompt and the tokens before it). Texts stand in prompts without a fence, since nothing in them is
    obeyed. A text that is one token with nothing before it has no value.
    """

    asks = "model"
    tags = ("valid and reliable", "conceptual soundness", "outcomes analysis")

    def __init__(self, setup: Setup, options: Options | None = None) -> None:
        asked = setup.likelihood
        super().__init__(replace(setup, model=asked.name) if asked else setup, options)
        self._kept: dict[tuple[str, str], tuple[float, ...] | str] = {}

    @property
    def n_calls(self) -> float:
        """None of a model of this machine."""
        return 0.0 if self._here else self.calls

    @property
    def _here(self) -> bool:
        return self.setup.likelihood is not None and self.setup.likelihood.here

    def check_at_hand(self) -> None:
        """Raises InputError where there is no model that gives log-probabilities."""
        if self.setup.likelihood is None:
            remedy = 'name one that gives log-probabilities, such as "transformers:NAME", as evaluate.likelihood_model'
            raise InputError(f"{self.name} asks a model and none is named", remedy=remedy)
        self.setup.likelihood.check(self.name)

    @abstractmethod
    def given(self, case: AnswerCase) -> Mapping[str, Sequence[Given]]:
        """Criterion to the texts whose means it is the mean of. Raises JudgeFailed where there is nothing to score."""

    def label(self, nll: float) -> float:
        """The label of a mean negative log-likelihood: itself."""
        return nll

    def prepare(self, cases: Sequence[AnswerCase]) -> None:
        """Score every distinct text of all cases, where the model is of this machine."""
        if not self._here:
            return
        model = load_causal(self.setup.model)
        for case in cases:
            try:
                owed = [one for several in self.given(case).values() for one in several]
            except JudgeFailed:  # said again by `steps`
                continue
            for one in owed:
                if (one.prompt, one.text) not in self._kept:
                    try:
                        self._kept[one.prompt, one.text] = tuple(model.logprobs(one.prompt, one.text))
                    except (ValueError, RuntimeError, IndexError) as error:
                        self._kept[one.prompt, one.text] = f"{self.judge} cannot score it ({error})"

    def steps(self, case: AnswerCase) -> Steps:
        """A request for each text, of a model on a server; none of one of this machine."""
        wanted = self.given(case)
        found = self._kept
        if not self._here:
            asked = list(dict.fromkeys((one.prompt, one.text) for several in wanted.values() for one in several))
            replies = yield [Request((Message("user", prompt),), continuation=text) for prompt, text in asked]
            scored = [str(one.error) if one.logprobs is None else one.logprobs for one in replies]
            found = dict(zip(asked, scored, strict=True))
        return [self._mean(case, criterion, several, found) for criterion, several in wanted.items()]

    def _mean(
        self,
        case: AnswerCase,
        criterion: str,
        several: Sequence[Given],
        found: Mapping[tuple[str, str], tuple[float, ...] | str],
    ) -> Assessment:
        means, details = [], list[dict[str, Any]]()
        for one in several:
            logprobs = found[one.prompt, one.text]
            if isinstance(logprobs, str):
                return self.fail(case, f"{one.of}: {logprobs}", criterion=criterion)
            if not logprobs:
                why = f"{NO_VALUE}{one.of} is one token, and nothing is before it"
                return self.fail(case, why, criterion=criterion)
            means.append(-mean(logprobs))
            details.append({"of": one.of, "mean_nll": means[-1], "tokens": len(logprobs)})
        try:
            return self.assess(case, self.label(mean(means)), criterion=criterion, details=details)
        except OverflowError:
            return self.fail(case, f"{NO_VALUE}larger than any number that can be kept", criterion=criterion)


def needed(text: str, what: str) -> str:
    """The text without white space around it and lone surrogates. Raises JudgeFailed where nothing is left."""
    if not text.strip():
        raise JudgeFailed(f"{NO_VALUE}the {what} is empty")
    return text.strip().encode("utf-8", "replace").decode()


PROMPTS = Path(__file__).parent / "likelihood/prompts"

Translation = Literal["accuracy", "fluency", "quality"]
Rewriting = Literal["semantic_coverage", "factuality", "informativeness", "coherence", "relevance", "fluency"]
Summary = Literal[
    "semantic_coverage", "factuality", "consistency", "informativeness", "coherence", "relevance", "fluency"
]
Talk = Literal[
    "interest", "engagement", "understandability", "relevance", "specificity", "correctness", "appropriateness",
    "fluency",
]  # fmt: skip


class GptScoreOptions(Options):
    """aspects: those that are scored; a request each (two where it goes both ways)."""

    aspects: tuple[str, ...] = ()


class TranslationOptions(GptScoreOptions):
    """quality: of multidimensional quality metrics, translators' own."""

    aspects: tuple[Translation, ...] = Field(get_args(Translation), min_length=1)


class RewritingOptions(GptScoreOptions):
    """As the paper has them for a reference and a summary."""

    aspects: tuple[Rewriting, ...] = Field(get_args(Rewriting), min_length=1)


class SummaryOptions(GptScoreOptions):
    """As the paper has them for a source and its summary."""

    aspects: tuple[Summary, ...] = Field(get_args(Summary), min_length=1)


class TalkOptions(GptScoreOptions):
    """As the paper has them for a dialogue's turn."""

    aspects: tuple[Talk, ...] = Field(get_args(Talk), min_length=1)


class GptScore(LikelihoodEvaluator):
    """The base of the four. ways: how many texts an aspect scores.

    Fu et al. 2023, "GPTScore: Evaluate as You Desire" (arXiv:2302.04166), in the four forms and by the aspects that H2O
    Eval Studio has. The value is the mean negative log-likelihood: the paper's with its sign turned. The templates are
    the paper's. Each aspect is a criterion, NAME_ASPECT; `aspects` chooses among them.
    """

    family = "eval-studio-likelihood"
    source = "arXiv:2302.04166; https://docs.h2o.ai/eval-studio-docs/ (GPTScore)"
    options: GptScoreOptions
    ways: ClassVar[int] = 1

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """One for each aspect: natural logarithms, from 0 (certain) to any number; its source sets no threshold."""
        names = [f"{self.name}_{aspect}" for aspect in self.options.aspects]
        return tuple(Criterion(name, 0.0, inf, lower_is_better=True) for name in names)

    @property
    def n_calls(self) -> float:
        """A request for each aspect and way."""
        return super().n_calls and float(len(self.options.aspects) * self.ways)

    def given(self, case: AnswerCase) -> Mapping[str, Sequence[Given]]:
        found: dict[str, list[Given]] = {}
        for aspect in self.options.aspects:
            given = found.setdefault(f"{self.name}_{aspect}", [])
            for shown, between, text, of in self.texts(case):
                messages = self.prompt().render({**values_of(case), "aspect": aspect, "text": shown})
                prompt = "\n\n".join(filter(None, (one.content for one in messages)))
                given.append(Given(prompt + between, text, of))
        return found

    def texts(self, case: AnswerCase) -> Sequence[tuple[str, str, str, str]]:
        """(what the prompt shows, what parts it from the text, the text, what that is)."""
        raise NotImplementedError


class _BothWays(GptScore):
    """The answer after the expected response, and this after the answer: the mean of the two."""

    needs = ("expected_response",)
    reads = ("expected_response", "answer")
    ways = 2

    def texts(self, case: AnswerCase) -> Sequence[tuple[str, str, str, str]]:
        answer, expected = needed(case.text, "answer"), needed(expected_response(case.query) or "", "expected response")
        return [
            (expected, " ", answer, "answer after expected response"),
            (answer, " ", expected, "expected response after answer"),
        ]


class GptScoreTranslation(_BothWays):
    """Answer and expected response as translations of one text; of an empty answer there is none."""

    name = "gptscore_translation"
    place = 1102
    about = "how likely answer and expected response are as each other's rewording, as translations are judged"
    options_type = TranslationOptions
    default_prompt = PROMPTS / "gptscore_translation.md"
    calls = 6.0


class GptScoreSummarizationWithReference(_BothWays):
    """Answer and expected response as summaries of one text; of an empty answer there is none."""

    name = "gptscore_summarization_with_reference"
    place = 1103
    about = "how likely answer and expected response are as each other's rewording, as summaries are judged"
    options_type = RewritingOptions
    default_prompt = PROMPTS / "gptscore_summarization_with_reference.md"
    calls = 12.0


class GptScoreSummarizationWithoutReference(GptScore):
    """The answer as a summary of the passages, one after another; of an empty answer or no passages there is none.

    Eval Studio has the text to be summarized in the question; here it is what was retrieved.
    """

    name = "gptscore_summarization_without_reference"
    place = 1104
    about = "how likely the answer is as a summary of the passages that the agent retrieved"
    reads = ("context", "answer")
    options_type = SummaryOptions
    default_prompt = PROMPTS / "gptscore_summarization_without_reference.md"
    calls = 7.0

    def texts(self, case: AnswerCase) -> Sequence[tuple[str, str, str, str]]:
        context = needed("\n\n".join(passage.text for passage in checked_passages(case)), "context")
        return [(context, "\n", needed(case.text, "answer"), "answer after the passages")]


class GptScoreQuestionAnswering(GptScore):
    """Question and answer as a conversation, and how likely `Answer: Yes` is to whether the answer is good."""

    name = "gptscore_question_answering"
    place = 1105
    about = "how likely Yes is where it is asked whether the answer to the question is good"
    reads = ("question", "answer")
    options_type = TalkOptions
    default_prompt = PROMPTS / "gptscore_question_answering.md"
    calls = 8.0

    def texts(self, case: AnswerCase) -> Sequence[tuple[str, str, str, str]]:
        question, answer = needed(case.query.text, "question"), needed(case.text, "answer")
        return [(f"human: {question}\nAI: {answer}", "\n", "Answer: Yes", "Answer: Yes")]


class Perplexity(LikelihoodEvaluator):
    """Asks how likely each token of the answer is; of an answer that is empty, or one token, there is none.

        perplexity = exp(-(1/N) sum over tokens i of log p(token i | the tokens before it))

    H2O Eval Studio's, as Hugging Face has it ("Perplexity of fixed-length models"): the first token, before which
    nothing stands, is not counted, unless the tokenizer sets a marker before it. 1 is certain. `details` has the mean
    negative log-likelihood and the number of tokens. It tells fluent from garbled, and nothing of what is true.
    """

    name = "perplexity"
    place = 1101
    family = "eval-studio-likelihood"
    about = "how far from expected a language model finds the answer by itself: exp of the mean negative log-likelihood"
    reads = ("answer",)
    source = "https://docs.h2o.ai/eval-studio-docs/ (Perplexity); https://huggingface.co/docs/transformers/perplexity"
    criteria = (Criterion(name, 1.0, inf, lower_is_better=True),)

    def given(self, case: AnswerCase) -> Mapping[str, Sequence[Given]]:
        return {self.name: [Given("", needed(case.text, "answer"), "answer")]}

    def label(self, nll: float) -> float:
        """Its exponential. Raises OverflowError beyond 1e308."""
        return max(1.0, exp(nll))
