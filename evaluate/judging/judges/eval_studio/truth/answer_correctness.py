"""Answer correctness by claims: a weighted mean of the claims' F1 and of the similarity to the expected response.

H2O Eval Studio's "answer correctness", which is Ragas' (`_answer_correctness.py` in explodinggradients/ragas):

    correctness = 0.75 F1 + 0.25 similarity,    F1 = TP / (TP + 0.5 (FP + FN))

TP are the answer's claims that the expected response entails, FP its other claims, FN the expected response's claims
that the answer does not entail. The similarity is golden_similarity's cosine, a negative one taken as 0. Claims and
verdicts are asked for as factual_correctness does, so that both cost one of them. An answer that claims nothing has
F1 = 0; there is no value where the answer holds no words, or the expected response makes no claim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field, field_validator

from ragassay.models.encoders import check_encoder

from ....engine.cases import AnswerCase
from ....engine.evaluator import NO_VALUE, Criterion, Evaluator, Steps
from ....engine.reply import JudgeFailed
from ...factual_correctness import FactualCorrectness, FactualOptions
from ...golden_similarity import GoldenSimilarity
from .. import H2O_PAGE, TAGS
from ..by_verdicts import THRESHOLD
from ..words import check_words

Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class AnswerCorrectnessOptions(FactualOptions):
    """weights: of the claims' F1 and of the similarity; their mean is taken by them, whatever their sum."""

    weights: tuple[Weight, Weight] = (0.75, 0.25)

    @field_validator("weights")
    @classmethod
    def _some(cls, weights: tuple[float, float]) -> tuple[float, float]:
        if sum(weights) == 0:
            raise ValueError("weights are both 0")
        return weights


class AnswerCorrectnessClaims(Evaluator):
    """factual_correctness's requests, then the embeddings of the two texts."""

    name = "answer_correctness_claims"
    family = "eval-studio-truth"
    about = "0.75 F1 of claims + 0.25 similarity to the expected response (answer_correctness is the pointwise judge's)"
    needs = ("expected_response",)
    reads = ("question", "expected_response", "answer")
    source = f"{H2O_PAGE} (Answer Correctness)"
    tags = TAGS
    calls = 6.0
    options_type = AnswerCorrectnessOptions
    options: AnswerCorrectnessOptions

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """One, 0 to 1."""
        return (Criterion(self.name, threshold=THRESHOLD),)

    @cached_property
    def factual(self) -> FactualCorrectness:
        """Whose claims and verdicts are counted."""
        return FactualCorrectness(self.setup, self.options)

    @cached_property
    def similarity(self) -> GoldenSimilarity:
        """Whose cosine is taken."""
        return GoldenSimilarity(self.setup)

    def check_at_hand(self) -> None:
        """Raises InputError where there is no embedding model and the similarity counts."""
        if self.options.weights[1]:
            check_encoder(self.setup.embedding, self.name)

    def steps(self, case: AnswerCase) -> Steps:
        """The claims of both texts, the verdicts, then the similarity."""
        check_words(case.text, "answer")
        rows = yield from self.factual.steps(case)
        claims = rows[0].details
        if not any(claim["of"] == "expected_response" for claim in claims):
            raise JudgeFailed(f"{NO_VALUE}the expected response makes no claim")
        parts = (claims_f1(claims), self._cosine(case))
        value = sum(w * part for w, part in zip(self.options.weights, parts, strict=True)) / sum(self.options.weights)
        return [self.assess(case, value, details=[{"f1": parts[0], "similarity": parts[1]}, *claims])]

    def _cosine(self, case: AnswerCase) -> float:
        if not self.options.weights[1]:
            return 0.0
        self.similarity.prepare([case])
        try:
            (row,) = self.similarity.steps(case)
        except ValueError as error:
            raise JudgeFailed(f"{NO_VALUE}{error}") from None
        if row.label is None:
            raise JudgeFailed(str(row.error))
        return max(0.0, row.label)


def claims_f1(claims: Sequence[Mapping[str, Any]]) -> float:
    """TP / (TP + 0.5 (FP + FN)) of claims with `of` and `label`, at least one of them."""
    true = sum(one["of"] == "answer" and one["label"] == "entailed" for one in claims)
    false = sum(one["of"] == "answer" and one["label"] != "entailed" for one in claims)
    missed = sum(one["of"] == "expected_response" and one["label"] != "entailed" for one in claims)
    return true / (true + 0.5 * (false + missed)) if true else 0.0
