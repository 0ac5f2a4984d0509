"""The RAG triad: context relevance, groundedness and answer relevance, each graded on whole numbers, from 0 to 3 unless
a scale is set.

TruLens calls the scale `output_space` and the rest `criteria` and `examples`: truera/trulens,
`src/feedback/trulens/feedback/templates/rag.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property, lru_cache
from statistics import mean
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, Field, create_model

from ragassay.files import read_objects
from ragassay.models.requests import Reply
from ragassay.prompts import Prompt
from ragassay.records import Assessment

from ..engine.cases import AnswerCase, Case
from ..engine.evaluator import NO_VALUE, Criterion, LabelJudge, Options, Steps, check_passages, own_prompt
from ..engine.question import Graded, JudgeFailed, Reason, Strict, label_type, read_value
from ..judges import PROMPTS
from .claims import DEFAULT_PROMPTS, NOTHING_FOUND, Evidence, Split, claims_of, passage_with, quotations

WIDEST = 10
"""The highest grade that can be set; a finer scale is not told apart by anybody."""


def _rising(scale: tuple[int, int]) -> tuple[int, int]:
    lowest, highest = scale
    if not 0 <= lowest < highest <= WIDEST:
        raise ValueError(f"is [lowest, highest], whole numbers from 0 to {WIDEST}, the lowest first")
    return scale


class TriadOptions(Options):
    """`[evaluate.settings.NAME]` with `scale = [lowest, highest]`, such as [0, 1] or [0, 10].

    On [0, 3] the prompts spell out each grade; on others they say what the ends mean and what lies between. Mode
    "probability" needs labels of one digit, so a highest of at most 9.
    """

    scale: Annotated[tuple[int, int], AfterValidator(_rising)] = Field((0, 3))


class TriadJudge(LabelJudge):
    """One of the three: a label on the scale that is set, and the same on 0 to 1 as `score`."""

    family = "triad"
    source = "TruLens, the RAG triad (truera/trulens)"
    tags: ClassVar[tuple[str, ...]] = ("valid and reliable", "ongoing monitoring", "outcomes analysis")
    options_type: ClassVar[type[TriadOptions]] = TriadOptions
    options: TriadOptions

    @property
    def scale(self) -> tuple[str, ...]:
        """Every whole number from the lowest to the highest."""
        lowest, highest = self.options.scale
        return tuple(str(label) for label in range(lowest, highest + 1))


class AnswerRelevance(TriadJudge):
    """Grades each answer.

    After TruLens, https://www.trulens.org/getting_started/core_concepts/rag_triad/ ("answer relevance"): refusals,
    answers that only seem relevant and confident falsehoods get the lowest grade; correctness is not judged beyond
    that. The passages are not shown. The prompt is ours.
    """

    name = "answer_relevance"
    place = 103
    about = "how many parts of the question the answer addresses; a refusal gets the lowest grade"
    reads = ("question", "answer")
    default_prompt: ClassVar = PROMPTS / "answer_relevance.md"


EXAMPLES = PROMPTS / "context_relevance_examples.jsonl"
"""Seven, of each kind of query and each grade of 0 to 3."""


class ContextRelevance(TriadJudge):
    """Grades each passage by itself; `details` say whether it counts as relevant.

    After TruLens (`ContextRelevance`): its grades of 0 to 3 for questions, search phrases and statements, which are
    judged as they are given, in our words, and seven examples of our own for what its authors' seven show. 2 and 3
    count as relevant, as in its benchmark on TREC-DL: Snowflake 2025, "Benchmarking LLM-as-a-Judge for the RAG Triad
    Metrics", https://www.snowflake.com/en/engineering-blog/benchmarking-LLM-as-a-judge-RAG-triad-metrics/. With
    `prompts = "ragassay"` the grades are stricter, of statements above all, which then need evidence.
    """

    name = "context_relevance"
    place = 101
    about = "how relevant a passage is to what is asked; on 0 to 3 relevant from 2"
    reads = ("question", "context")
    unit = "passage"
    default_prompt: ClassVar = PROMPTS / "context_relevance.md"
    ragassay_prompt: ClassVar = PROMPTS / "context_relevance_ragassay.md"

    @property
    def examples(self) -> Sequence[Mapping[str, str | int]]:
        """The user's, of which there may be none; else the source's with the source's prompt and grades."""
        theirs = self.setup.prompts == "paper" and self.options.prompt is None and self.options.scale == (0, 3)
        return self.options.examples if "examples" in self.options.model_fields_set or not theirs else shipped()

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The grade, good enough where it is relevant."""
        lowest, highest = self.options.scale
        return (Criterion(self.name, lowest, highest, threshold=self.relevant),)

    @property
    def relevant(self) -> int:
        """The lowest grade that counts as relevant: two thirds up the scale, rounded up; 2 on 0 to 3, 7 on 0 to 10."""
        lowest, highest = self.options.scale
        return lowest - (-2 * (highest - lowest) // 3)

    def graded(self, case: Case, grade: Graded, **more: Any) -> Assessment:
        """The assessment with whether the passage is relevant."""
        return super().graded(case, grade, details=[{"relevant": grade.label >= self.relevant}], **more)


@cache
def shipped() -> tuple[dict[str, str | int], ...]:
    """The examples of `EXAMPLES`: query, passage, reason, label."""
    return tuple(row for _, row in read_objects(EXAMPLES))


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
    """The mean grade over the claims of an answer; the claims are in `details`.

        groundedness = (sum over claims of the claim's grade) / (number of claims)

    After TruLens, https://www.trulens.org/getting_started/core_concepts/rag_triad/ ("groundedness"): the answer is
    split, what states nothing is dropped, each claim is judged against all passages together, and an admission of not
    knowing is an abstention that gets the highest grade. The prompts are ours.
    """

    name = "groundedness"
    place = 102
    calls = 4.0
    about = "how far the passages support the claims of an answer, the mean over claims"
    reads = ("answer", "context")
    tags = ("valid and reliable", "explainable and interpretable", "ongoing monitoring", "outcomes analysis")
    options_type: ClassVar[type[TriadOptions]] = GroundednessOptions
    default_prompt: ClassVar = PROMPTS / "groundedness.md"
    options: GroundednessOptions

    @cached_property
    def split_prompt(self) -> Prompt | None:
        """The prompt that splits, or None where nothing is asked. Raises InputError where it cannot be read."""
        default = DEFAULT_PROMPTS.get(self.options.split)
        return None if default is None else own_prompt(self, self.options.split_prompt, default)

    def steps(self, case: AnswerCase) -> Steps:
        """One request that splits the answer, then one for each claim."""
        check_passages(case)
        question, prompt = self.asked, self.split_prompt
        parts = yield from claims_of(case, self.options.split, prompt)
        details: list[Detail] = [{"claim": part.text, "kind": part.kind, "reason": part.reason} for part in parts]
        stated = [part for part in parts if part.kind == "claim"]
        if stated and not case.passages:
            why = "no retrieved passage to hold the claims against"
            return [self.fail(case, f"{NO_VALUE}{why}", details=details)]
        if all(part.kind == "nothing" for part in parts):
            return [self.fail(case, f"{NO_VALUE}the answer states nothing", details=details)]
        values, schema = self.values(case), claim_schema(self.scale)
        asked = [question.request({**values, "claim": claim.text}, schema=schema) for claim in stated]
        replies = iter((yield asked) if stated else ())
        for part, detail in zip(parts, details, strict=True):
            if part.kind == "claim":
                try:
                    detail.update(self._grade(case, next(replies)))
                except (JudgeFailed, ValueError) as error:
                    detail["error"] = str(error)
            elif part.kind == "abstention":  # needs no evidence
                detail.update(evidence=[ABSTENTION], label=self.criteria[0].highest)
        counted = [detail for detail in details if detail["kind"] != "nothing"]
        if errors := [detail["error"] for detail in counted if "error" in detail]:
            failed = f"{len(errors)} of {len(counted)} claims could not be judged: {errors[0]}"
            return [self.fail(case, failed, details=details)]
        label = mean(float(detail["label"]) for detail in counted)
        expected = None
        if question.mode == "probability":
            expected = mean(float(detail["expected" if "expected" in detail else "label"]) for detail in counted)
        return [self.assess(case, label, expected=expected, details=details)]

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


@lru_cache(maxsize=64)
def claim_schema(labels: tuple[str, ...]) -> type[BaseModel]:
    """The reply on a claim: evidence, then reason, then one of `labels`."""
    fields: Any = {"evidence": (Evidence, ...), "reason": (Reason, ...), "label": (label_type(labels), ...)}
    return create_model("GradedClaim", __base__=Strict, __doc__="Evidence, reason, then the label.", **fields)
