"""Groundedness of the RAG triad: how far the retrieved passages support the claims of an answer.

    groundedness = (sum over claims of the claim's grade) / (number of claims)

After TruLens, https://www.trulens.org/getting_started/core_concepts/rag_triad/ ("groundedness"): the answer is split,
what states nothing is dropped, each claim is judged against all passages together, and an admission of not knowing is
an abstention that gets the highest grade. The prompts are ours. One request to split, then one for each claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from statistics import mean
from typing import Any, ClassVar

from pydantic import BaseModel, create_model

from ragassay.models.requests import Reply, Request
from ragassay.prompts import Prompt
from ragassay.records import Assessment

from ..engine.cases import AnswerCase
from ..engine.evaluator import NO_VALUE, Steps, check_passages
from ..engine.labels import label_type
from ..engine.question import LabelQuestion
from ..engine.reply import JudgeFailed, Reason, Strict, read_value
from . import PROMPTS
from .claims import DEFAULT_PROMPTS, Claim, Split, claims_of
from .quotations import NOTHING_FOUND, Evidence, passage_with, quotations
from .triad import TriadJudge, TriadOptions

ABSTENTION = "ABSTENTION"

Detail = dict[str, Any]
"""A part of an answer: `claim` (its text), `kind`, and what came of it.

evidence: quotations, [NOTHING FOUND] or [ABSTENTION]; evidence_in: for each quotation the id of a passage that holds it
word for word, null where none does. Then `reason` and `label`, or in mode "probability" label, probability and
expected, or `error`. What states nothing has the reason only.
"""


class GroundednessOptions(TriadOptions):
    """`split`: into claims by "sentence", by "model", or "whole" (the answer is one claim). `split_prompt`: a file of
    the user's own for the request that splits; `prompt` is the one that judges a claim."""

    split: Split = "sentence"
    split_prompt: str | None = None


class Groundedness(TriadJudge):
    """The mean grade over the claims of an answer; the claims are in `details`."""

    name = "groundedness"
    calls = 4.0
    about = "how far the passages support the claims of an answer, the mean over claims"
    reads = ("answer", "context")
    source = "TruLens, the RAG triad (truera/trulens)"
    tags = ("valid and reliable", "explainable and interpretable", "ongoing monitoring", "outcomes analysis")
    unit = "answer"
    options_type: ClassVar[type[TriadOptions]] = GroundednessOptions
    default_prompt: ClassVar = PROMPTS / "groundedness.md"
    options: GroundednessOptions

    @cached_property
    def split_prompt(self) -> Prompt | None:
        """The prompt that splits, or None where nothing is asked. Raises InputError where it cannot be read."""
        default = DEFAULT_PROMPTS.get(self.options.split)
        if default is None:
            return None
        return Prompt.load(self.setup.folder / self.options.split_prompt if self.options.split_prompt else default)

    def steps(self, case: AnswerCase) -> Steps:
        """One request that splits the answer, then one for each claim."""
        check_passages(case)
        question, prompt = self.asked, self.split_prompt
        parts = yield from claims_of(case, self.options.split, prompt)
        stated = [part for part in parts if part.kind == "claim"]
        if stated and not case.passages:
            return [self._no_value(case, "no retrieved passage to hold the claims against", parts)]
        if all(part.kind == "nothing" for part in parts):
            return [self._no_value(case, "the answer states nothing", parts)]
        replies = iter((yield [self._ask(question, case, claim) for claim in stated]) if stated else ())
        return [self._mean(case, [self._detail_of(part, case, replies) for part in parts])]

    def _ask(self, question: LabelQuestion, case: AnswerCase, claim: Claim) -> Request:
        return question.request({**self.values(case), "claim": claim.text}, schema=claim_schema(self.scale))

    def _detail_of(self, part: Claim, case: AnswerCase, replies: Iterator[Reply]) -> Detail:
        return self._judged(part, case, next(replies)) if part.kind == "claim" else self._unasked(part)

    def _judged(self, claim: Claim, case: AnswerCase, reply: Reply) -> Detail:
        try:
            return _detail(claim) | self._grade(case, reply)
        except (JudgeFailed, ValueError) as error:
            return _detail(claim) | {"error": str(error)}

    def _grade(self, case: AnswerCase, reply: Reply) -> Detail:
        if self.asked.mode == "probability":
            grade = self.asked.read(reply)
            return {"label": grade.label, "probability": grade.probability, "expected": grade.expected}
        value = read_value(reply, claim_schema(self.scale))
        quoted = quotations(value.evidence)
        return {
            "evidence": quoted or [NOTHING_FOUND],
            "evidence_in": [passage_with(quotation, case.passages) for quotation in quoted],
            "reason": value.reason,
            "label": float(value.label),
        }

    def _unasked(self, part: Claim) -> Detail:
        """What needs no evidence: an abstention has the highest grade, what states nothing has none."""
        if part.kind == "nothing":
            return _detail(part)
        return _detail(part) | {"evidence": [ABSTENTION], "label": self.criteria[0].highest}

    def _mean(self, case: AnswerCase, details: Sequence[Detail]) -> Assessment:
        counted = [detail for detail in details if detail["kind"] != "nothing"]
        if errors := [detail["error"] for detail in counted if "error" in detail]:
            error = f"{len(errors)} of {len(counted)} claims could not be judged: {errors[0]}"
            return self.fail(case, error, details=details)
        labels = [float(detail["label"]) for detail in counted]
        expected = [float(detail["expected" if "expected" in detail else "label"]) for detail in counted]
        in_probabilities = self.asked.mode == "probability"
        return self.assess(case, mean(labels), expected=mean(expected) if in_probabilities else None, details=details)

    def _no_value(self, case: AnswerCase, why: str, parts: Sequence[Claim]) -> Assessment:
        return self.fail(case, f"{NO_VALUE}{why}", details=[_detail(part) for part in parts])


@lru_cache(maxsize=64)
def claim_schema(labels: tuple[str, ...]) -> type[BaseModel]:
    """The reply on a claim: evidence, then reason, then one of `labels`."""
    fields: Any = {"evidence": (Evidence, ...), "reason": (Reason, ...), "label": (label_type(labels), ...)}
    return create_model("GradedClaim", __base__=Strict, __doc__="Evidence, reason, then the label.", **fields)


def _detail(part: Claim) -> Detail:
    return {"claim": part.text, "kind": part.kind, "reason": part.reason}
