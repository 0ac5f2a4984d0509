"""What was retrieved: the relevance of a pooled passage to the query (0 not, 1 somewhat, 2 very), one by one or several
in a request, UMBRELA's grades of it, and the share of the expected documents.

Relevance is as in RAGElo (Rackauckas, Câmara and Zavrel 2024, arXiv:2406.14783, appendix A.1), somewhat is on the topic
without the full answer; by our strict prompts it is a part of the answer, and the topic alone is nothing. Asked of one
passage for a reason and a label, for the label as one token, or for Yes or No; of several for reasons and labels.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, create_model

from ragassay.models.requests import Reply, Request
from ragassay.prompts import Message, Prompt
from ragassay.records import Assessment, Judgment

from ..engine.cases import AnswerCase, Judge, PassageCase, PassagesCase, QueryCase, Setup, expected_docs
from ..engine.evaluator import NO_VALUE, Criterion, Evaluator, LabelJudge, Options, Steps
from ..engine.question import (
    LABELS,
    JudgeFailed,
    Label,
    Reason,
    Strict,
    check_each_once,
    distribution,
    likeliest,
    read_value,
    whole,
    yes_or_no,
)
from ..judges import PROMPTS

CRITERION = "relevance"
VERY_RELEVANT = 2
YES_NO = ("Yes", "No")


class RelevanceReply(Strict):
    """One sentence on why, then the label."""

    reason: Reason
    label: Label


class Relevance(Evaluator):
    """Asks for a reason and a label."""

    name = CRITERION
    unit = "passage"
    batch_label = CRITERION
    criteria = (Criterion(CRITERION, 0, VERY_RELEVANT),)

    def __init__(self, setup: Setup, prompt: Prompt) -> None:
        super().__init__(setup)
        self.template = prompt

    def steps(self, case: PassageCase) -> Steps:
        (reply,) = yield [self.request(case)]
        return [self.read(case, reply)]

    def request(self, case: PassageCase) -> Request:
        """What is asked about a passage. Raises InputError where the prompt names what it is not given."""
        return Request(self.messages(case), schema=RelevanceReply)

    def read(self, case: PassageCase, reply: Reply) -> Assessment:
        """The assessment. Raises JudgeFailed with the reply's error."""
        value: RelevanceReply = read_value(reply, RelevanceReply)
        return self.assess(case, value.label, reason=value.reason)

    def messages(self, case: PassageCase) -> tuple[Message, ...]:
        """The prompt with the query and the passage in it. Raises InputError where it names something else."""
        return self.template.render({"query": case.query, "passage": case.passage})


class RelevanceByToken(Relevance):
    """Asks for the label as one token; label, probability and expected value come from the distribution."""

    def steps(self, case: PassageCase) -> Steps:
        (reply,) = yield [Request(self.messages(case), tokens=LABELS)]
        return [self.graded(case, likeliest(distribution(reply, LABELS)))]


class RelevanceByYes(Relevance):
    """Asks for Yes or No; very relevant (2) where the probability of Yes reaches `threshold`, else not (0)."""

    def __init__(self, setup: Setup, prompt: Prompt, threshold: float) -> None:
        super().__init__(setup, prompt)
        self.threshold = threshold

    def steps(self, case: PassageCase) -> Steps:
        (reply,) = yield [Request(self.messages(case), tokens=YES_NO)]
        return [self.graded(case, yes_or_no(distribution(reply, YES_NO)["Yes"], self.threshold, VERY_RELEVANT))]


@lru_cache(maxsize=64)
def batch_schema(n: int) -> type[BaseModel]:
    """The reply on `n` passages: number, reason and label of each, every number from 1 to n exactly once."""
    numbers = range(1, n + 1)

    def once(grades: list[Any]) -> list[Any]:
        check_each_once([grade.number for grade in grades], numbers)
        return grades

    number = Annotated[int, Field(json_schema_extra={"enum": list(numbers)})]
    fields: Any = {"number": (number, ...), "reason": (Reason, ...), "label": (Label, ...)}
    grade = create_model("NumberedGrade", __base__=Strict, __doc__="Which, why, then the label.", **fields)
    grades: Any = (Annotated[list[grade], AfterValidator(once)], ...)
    return create_model("RelevanceBatchReply", __base__=Strict, __doc__="A grade for each number.", grades=grades)


class RelevanceBatch(Judge[Assessment]):
    """Asks for a reason and a label of each of up to `size` passages; about a single one it asks as `one` does.

    The passages stand in a seeded order, which depends on the seed, the query's id and the passages' ids alone, in
    batches of nearly the same size. Where the judge twice gives a batch no usable reply, its passages are asked about
    one by one.
    """

    def __init__(self, one: Relevance, prompt: Prompt, size: int, seed: int) -> None:
        self.setup, self.one, self.template, self.size, self.seed = one.setup, one, prompt, size, seed

    batch_label = "relevance-batch"

    def label_of(self, asked: Sequence[Request]) -> str:
        """That, or of what is asked one by one `relevance`."""
        return self.one.batch_label if asked[0].schema is RelevanceReply else self.batch_label

    def batches(self, case: QueryCase) -> list[PassagesCase]:
        """The query's passages, of 12 by ten at most six and six."""
        passages = sorted(case.passages, key=lambda passage: passage.id)
        random.Random(f"{self.seed}:passages:{case.query.id}").shuffle(passages)
        n = ceil(len(passages) / self.size)
        ends = [len(passages) * part // n for part in range(n + 1)] if n else [0]
        return [PassagesCase(case.query, tuple(passages[a:b])) for a, b in pairwise(ends)]

    def owed(self, case: PassagesCase) -> list[Assessment]:
        return [row for each in case.single for row in self.one.owed(each)]

    def steps(self, case: PassagesCase) -> Steps:
        """One request, and where it comes to nothing one for each passage."""
        if len(case.passages) > 1:
            schema = batch_schema(len(case.passages))
            (reply,) = yield [Request(self.messages(case), schema, items=len(case.passages))]
            if reply.error is None:
                grades: Any = read_value(reply, schema)
                by_number = {grade.number: grade for grade in grades.grades}
                graded = [(each, by_number[number]) for number, each in enumerate(case.single, 1)]
                return [self.one.assess(each, grade.label, reason=grade.reason) for each, grade in graded]
        replies = yield [self.one.request(each) for each in case.single]
        rows = []
        for each, reply in zip(case.single, replies, strict=True):
            try:
                rows.append(self.one.read(each, reply))
            except JudgeFailed as error:
                rows.append(self.one.fail(each, str(error)))
        return rows

    def messages(self, case: PassagesCase) -> tuple[Message, ...]:
        """The prompt with the query and the passages in it. Raises InputError where it names something else."""
        return self.template.render({"query": case.query, "passages": case.passages})


def qrels_of(judgments: Sequence[Judgment]) -> dict[str, dict[str, int]]:
    """Query id to passage id to label; a passage that could not be judged is absent, that is, unjudged."""
    qrels: dict[str, dict[str, int]] = {}
    for judgment in judgments:
        if judgment.label is not None:
            qrels.setdefault(judgment.query_id, {})[judgment.subject] = int(judgment.label)
    return qrels


RELEVANT = 2
"""The lowest grade that counts as relevant."""

Grade = Annotated[Literal[0, 1, 2, 3], BeforeValidator(whole)]


class UmbrelaReply(Strict):
    """The steps in their order; only the final grade counts."""

    intent: Reason
    match: Grade
    trustworthiness: Grade
    reason: Reason
    final: Grade


class UmbrelaOptions(Options):
    """`[evaluate.settings.umbrela]` with `variant`: which of the two published prompts, "bing" or "basic"."""

    variant: Literal["bing", "basic"] = "bing"


class Umbrela(LabelJudge):
    """Grades each passage by itself; P@k, AP@k and RR come from the grades.

    Two prompts are published with it (castorini/umbrela, `qrel_zeroshot_bing` and `qrel_zeroshot_basic`). "bing", which
    Open RAG Eval uses, goes by steps: the intent behind the query, how the passage matches it, how trustworthy it is,
    and last the final grade (after Bing's prompt: Thomas et al. 2024, SIGIR, section 3.2). "basic" asks for an
    explanation and the grade.
    """

    name = "umbrela"
    place = 301
    family = "open-rag-eval"
    about = "how well a passage answers the query; relevant from 2"
    reads = ("question", "context")
    source = "Upadhyay et al. 2024, arXiv:2406.06519"
    tags = ("valid and reliable", "ongoing monitoring", "outcomes analysis")
    unit = "passage"
    labels = ("0", "1", "2", "3")
    options_type = UmbrelaOptions
    options: UmbrelaOptions
    default_prompt: ClassVar = PROMPTS / "umbrela_bing.md"
    ragassay_prompt: ClassVar = PROMPTS / "umbrela_ragassay.md"
    criteria = (Criterion(name, 0, 3, threshold=RELEVANT),)

    @property
    def built_in_prompt(self) -> Path | str | None:
        """Of the variant; only of "bing" there is a wording of ours."""
        return PROMPTS / "umbrela_basic.md" if self.options.variant == "basic" else super().built_in_prompt

    def steps(self, case: PassageCase) -> Steps:
        """One request, by steps with "bing"; with "basic" for reason and grade, in mode "probability" for the grade."""
        if self.setup.mode == "probability" or self.options.variant == "basic":
            return (yield from super().steps(case))
        (reply,) = yield [self.asked.request(self.values(case), schema=UmbrelaReply)]
        value: UmbrelaReply = read_value(reply, UmbrelaReply)
        steps = {"intent": value.intent, "match": value.match, "trustworthiness": value.trustworthiness}
        return [self.assess(case, value.final, reason=value.reason, details=[steps])]


class DocumentRecall(Evaluator):
    """The share of the expected documents among all that the agent retrieved, whatever its k.

    `retrieval/ground_truth/document_recall` of Databricks' Agent Evaluation: |expected and retrieved| / |expected|,
    over the documents that the query's `metadata.expected_docs` names, or else the one that the question was made from
    (`metadata.doc`). A document counts as retrieved where a passage of the agent has its name as id or as
    `metadata.doc`; an agent that retrieved nothing has found none of them.
    """

    name = "document_recall"
    place = 207
    calls = 0.0
    family = "agent-evaluation"
    about = "the share of the expected documents that the agent retrieved; asks no model"
    reads = ("context",)
    asks = "nothing"
    source = "Databricks Agent Evaluation (MLflow 2)"
    tags = ("valid and reliable", "outcomes analysis")
    needs = ("expected_docs",)
    judge = "expected_docs"  # the ground truth: nobody judges

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """One assessment; `details` says of each expected document whether it was found, and which field names it."""
        expected = expected_docs(case.query)
        if expected is None:
            return [self.fail(case, f"{NO_VALUE}no document is expected")]
        cut_from = (passage.metadata.get("doc") for passage in case.passages)
        retrieved = frozenset([*case.answer.passages, *(doc for doc in cut_from if isinstance(doc, str))])
        docs = expected.docs
        parts = [{"doc": doc, "found": doc in retrieved, "source": f"metadata.{expected.source}"} for doc in docs]
        return [self.assess(case, sum(doc in retrieved for doc in docs) / len(docs), details=parts)]
