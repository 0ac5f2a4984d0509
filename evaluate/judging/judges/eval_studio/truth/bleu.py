"""BLEU-1 to BLEU-4 of an answer against the expected response (Papineni et al. 2002), by sacrebleu.

Each is sacrebleu's sentence BLEU with as many n-grams as its number, exponential smoothing and effective order, as
sacrebleu advises for sentences: orders that a short answer has no n-gram of are left out. On 0 to 1, where sacrebleu
has 0 to 100. Every line of `metadata.expected_response` is a reference of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

from ragassay.errors import MissingExtra
from ragassay.records import Assessment

from ....engine.cases import AnswerCase
from ....engine.evaluator import NO_VALUE, Criterion, Evaluator, Options
from .references import references

ORDERS = (1, 2, 3, 4)
_HIGHEST = 100.0


class BleuOptions(Options):
    """tokenize: sacrebleu's tokenizer; "char" or "zh" for what is written without spaces, "intl" for Unicode marks."""

    tokenize: Literal["13a", "intl", "char", "zh", "none"] = "13a"


class Bleu(Evaluator):
    """Counts the n-grams that an answer shares with the expected response. No model is asked."""

    name = "bleu"
    family = "eval-studio-truth"
    about = "the n-grams that the answer shares with the expected response, n up to 1, 2, 3 and 4; asks no model"
    needs = ("expected_response",)
    calls = 0.0
    reads = ("expected_response", "answer")
    asks = "nothing"
    source = "H2O Eval Studio, BLEU; Papineni et al. 2002; sacrebleu (Post 2018)"
    tags = ("valid and reliable", "outcomes analysis")
    options: BleuOptions
    options_type = BleuOptions

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """BLEU-1 to BLEU-4, each from 0 to 1."""
        return tuple(Criterion(f"bleu_{order}", threshold=0.75) for order in ORDERS)

    @property
    def judge(self) -> str:
        """The library: nobody judges."""
        return "sacrebleu"

    @cached_property
    def scorers(self) -> tuple[Any, ...]:
        """One of each order. Raises MissingExtra."""
        try:
            from sacrebleu.metrics.bleu import BLEU
        except ModuleNotFoundError as error:
            raise MissingExtra(f"bleu needs {error.name}, which", "evaluators") from None
        tokenize = self.options.tokenize
        return tuple(BLEU(max_ngram_order=order, effective_order=True, tokenize=tokenize) for order in ORDERS)

    def check_at_hand(self) -> None:
        """Raises MissingExtra."""
        self.scorers  # noqa: B018  (loaded here, before any model is asked)

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """A record of each order; errors where the answer has no token."""
        given = [scorer.sentence_score(case.text, references(case.query)) for scorer in self.scorers]
        named = list(zip(self.criteria, given, strict=True))
        if not given[0].sys_len:
            return [self.fail(case, f"{NO_VALUE}the answer has no word", criterion=one.name) for one, _ in named]
        return [self.assess(case, min(score.score / _HIGHEST, 1.0), criterion=one.name) for one, score in named]
