"""Perplexity: how far from expected a language model finds an answer, by itself; 1 is certain, less is better.

    perplexity = exp(-(1/N) sum over tokens i of log p(token i | the tokens before it))

H2O Eval Studio's perplexity, as Hugging Face has it ("Perplexity of fixed-length models"): the first token, before
which nothing stands, is not counted, unless the tokenizer sets a marker before it. `details` has the mean negative
log-likelihood and the number of tokens. It tells fluent from garbled, and nothing of what is true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, inf

from ....engine.cases import AnswerCase
from ....engine.evaluator import Criterion
from .scored import Given, LikelihoodEvaluator, needed


class Perplexity(LikelihoodEvaluator):
    """Asks how likely each token of the answer is; of an answer that is empty, or one token, there is none."""

    name = "perplexity"
    family = "eval-studio-likelihood"
    about = "how far from expected a language model finds the answer by itself: exp of the mean negative log-likelihood"
    reads = ("answer",)
    source = "https://docs.h2o.ai/eval-studio-docs/ (Perplexity); https://huggingface.co/docs/transformers/perplexity"

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """From 1, of a text that is certain."""
        return (Criterion(self.name, 1.0, inf, lower_is_better=True),)

    def given(self, case: AnswerCase) -> Mapping[str, Sequence[Given]]:
        """The answer, after nothing."""
        return {self.name: [Given("", needed(case.text, "answer"), "answer")]}

    def label(self, nll: float) -> float:
        """Its exponential. Raises OverflowError beyond 1e308."""
        return max(1.0, exp(nll))
