"""ROUGE-1, ROUGE-2 and ROUGE-L of an answer against the expected response, as F1 (Lin 2004).

Words are runs of letters and digits of any script, without stemming. Every line of `metadata.expected_response` is a
reference of its own, and the best one counts, as in rouge-score's `score_multi`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.records import Assessment

from .....texts.rouge import ROUGES, Words, check_at_hand, rouge
from ....engine.cases import AnswerCase
from ....engine.evaluator import Criterion, Evaluator
from ....engine.parts import records
from .references import references

_NAMES = {"rouge1": "rouge_1", "rouge2": "rouge_2", "rougeL": "rouge_l"}


class Rouge(Evaluator):
    """Counts the words, pairs of words and words in order that an answer shares with the expected response."""

    name = "rouge"
    family = "eval-studio-truth"
    about = "the words, pairs of words and longest sequence shared with the expected response, F1; asks no model"
    needs = ("expected_response",)
    calls = 0.0
    reads = ("expected_response", "answer")
    asks = "nothing"
    source = "H2O Eval Studio, ROUGE; Lin 2004; rouge-score"
    tags = ("valid and reliable", "outcomes analysis")

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """ROUGE-1, ROUGE-2 and ROUGE-L, each from 0 to 1."""
        return tuple(Criterion(_NAMES[name], threshold=0.75) for name in ROUGES)

    @property
    def judge(self) -> str:
        """The library: nobody judges."""
        return "rouge-score"

    def check_at_hand(self) -> None:
        """Raises MissingExtra."""
        check_at_hand()

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """A record of each; an error where the answer has no word, or neither text a pair of words."""
        values: dict[str, float | None] = dict.fromkeys(_NAMES.values())
        if Words().tokenize(case.text):
            found = [rouge(reference, case.text) for reference in references(case.query)]
            for name in ROUGES:
                values[_NAMES[name]] = max((v for one in found if (v := one[name]) is not None), default=None)
        return records(self, case, values, dict.fromkeys(values, "there are too few words"))
