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
    def scorer(self) -> Any:
        """sacrebleu's of the highest order, whose counts are those of the others too. Raises MissingExtra."""
        try:
            from sacrebleu.metrics.bleu import BLEU
        except ModuleNotFoundError as error:
            raise MissingExtra(f"bleu needs {error.name}, which", "evaluators") from None
        return BLEU(max_ngram_order=ORDERS[-1], effective_order=True, tokenize=self.options.tokenize)

    def check_at_hand(self) -> None:
        """Raises MissingExtra."""
        self.scorer  # noqa: B018  (loaded here, before any model is asked)

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """A record of each order; errors where the answer has no token."""
        found = self.scorer.sentence_score(case.text, references(case.query))
        names = [criterion.name for criterion in self.criteria]
        if not found.sys_len:
            return [self.fail(case, f"{NO_VALUE}the answer has no word", criterion=name) for name in names]
        return [
            self.assess(case, self._score(found, order), criterion=name)
            for order, name in zip(ORDERS, names, strict=True)
        ]

    def _score(self, found: Any, order: int) -> float:
        """From the counts of n-grams up to this order."""
        made = self.scorer.compute_bleu(
            found.counts[:order],
            found.totals[:order],
            found.sys_len,
            found.ref_len,
            smooth_method="exp",
            effective_order=True,
            max_ngram_order=order,
        )
        return float(min(made.score / _HIGHEST, 1.0))
