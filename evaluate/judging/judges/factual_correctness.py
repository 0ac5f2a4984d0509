"""Factual correctness: the claims of the answer against the golden answer, and the other way round.

Open RAG Eval, `FactualCorrectnessMetric` in `open_rag_eval/metrics/golden_answer_metrics.py`
(https://github.com/vectara/open-rag-eval), after Ragas' metric of the same name: both texts are taken apart into
claims, and each claim is entailed by, contradicts, or is neutral to the other text.

- factual_precision: the share of the answer's claims that the golden answer entails;
- factual_recall: the share of the golden answer's claims that the answer entails;
- factual_f1: their harmonic mean.

A text that claims nothing has no share; F1 is then 0 if the other share is 0, else no value. There all three are 0 as
soon as one of the texts has no claim. Ragas counts the true positives of its recall on the answer's side instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, ClassVar

from pydantic import AfterValidator

from ragassay.models.requests import Reply, Request
from ragassay.prompts import Prompt
from ragassay.records import Assessment

from ..engine.cases import AnswerCase, expected_response
from ..engine.evaluator import Criterion, Evaluator, Options, Steps
from ..engine.item_question import ItemQuestion, Verdict
from ..engine.parts import f1, own_prompt, records
from ..engine.reply import JudgeFailed, Strict, read_value
from . import PROMPTS

LABELS = ("contradicted", "neutral", "entailed")
SIDES = ("answer", "expected_response")


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("the claim is empty")
    return text.strip()


class Claims(Strict):
    """The claims of a text, in its order."""

    claims: list[Annotated[str, AfterValidator(_said)]]


class FactualOptions(Options):
    """claims_prompt: a file of the user's own in place of the prompt that takes a text apart."""

    claims_prompt: str | None = None


class FactualCorrectness(Evaluator):
    """Two requests for the claims of the texts, then those that judge them, in batches of ten."""

    name = "factual_correctness"
    calls = 6.0
    family = "open-rag-eval"
    about = "claims of the answer in the golden answer (precision), and the other way round (recall)"
    reads = ("expected_response", "answer")
    source = "Open RAG Eval (vectara/open-rag-eval); Ragas"
    tags = ("valid and reliable", "conceptual soundness", "outcomes analysis")
    needs = ("expected_response",)
    options: FactualOptions
    options_type = FactualOptions
    default_prompt: ClassVar = PROMPTS / "factual_correctness.md"

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Precision, recall and F1, from 0 to 1."""
        return Criterion("factual_precision"), Criterion("factual_recall"), Criterion("factual_f1")

    def steps(self, case: AnswerCase) -> Steps:
        """The claims of both texts, then the verdicts on both lists at once."""
        texts = (case.text, expected_response(case.query) or "")
        sides = self._claims((yield [self._claims_request(case, text) for text in texts]))
        question = self.question
        asked = [
            question.requests({"query": case.query, "text": other}, claims)
            for claims, other in zip(sides, reversed(texts), strict=True)
        ]
        replies = (yield [*asked[0], *asked[1]]) if any(asked) else []
        parts = replies[: len(asked[0])], replies[len(asked[0]) :]
        verdicts = [question.read(part, claims) for part, claims in zip(parts, sides, strict=True)]
        return self._rows(case, sides, verdicts)

    @cached_property
    def question(self) -> ItemQuestion:
        """What a text has of claims. Raises InputError where the prompt cannot be read."""
        return ItemQuestion(self.prompt(), LABELS, ("0", "1", "2"), self.setup.mode, "claims", self.options)

    @cached_property
    def claims_prompt(self) -> Prompt:
        """What takes a text apart. Raises InputError where it cannot be read."""
        return own_prompt(self, self.options.claims_prompt, PROMPTS / "factual_claims.md")

    def _claims_request(self, case: AnswerCase, text: str) -> Request:
        return Request(self.claims_prompt.render({"query": case.query, "answer": text}), schema=Claims)

    @staticmethod
    def _claims(replies: Sequence[Reply]) -> list[list[str]]:
        sides = []
        for side, reply in zip(SIDES, replies, strict=True):
            try:
                sides.append(list(dict.fromkeys(read_value(reply, Claims).claims)))
            except JudgeFailed as error:
                raise JudgeFailed(f"the claims of the {side} could not be had: {error}") from None
        return sides

    def _rows(
        self, case: AnswerCase, sides: Sequence[Sequence[str]], verdicts: Sequence[Sequence[Verdict]]
    ) -> list[Assessment]:
        precision, recall = (_entailed(side) for side in verdicts)
        none = {"factual_precision": "the answer makes no claim", "factual_recall": "the golden answer makes no claim"}
        none["factual_f1"] = none["factual_precision" if precision is None else "factual_recall"]
        details = [
            {"of": name, "claim": claim, **verdict.detail()}
            for name, claims, found in zip(SIDES, sides, verdicts, strict=True)
            for claim, verdict in zip(claims, found, strict=True)
        ]
        values = {"factual_precision": precision, "factual_recall": recall, "factual_f1": f1(precision, recall)}
        return records(self, case, values, none, details=details)


def _entailed(verdicts: Sequence[Verdict]) -> float | None:
    return sum(verdict.label == "entailed" for verdict in verdicts) / len(verdicts) if verdicts else None
