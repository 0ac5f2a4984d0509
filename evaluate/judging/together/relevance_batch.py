"""Relevance of several passages of a query in one request, each graded by itself, as `relevance.py` grades one.

The passages stand in a seeded order, which depends on the seed, the query's id and the passages' ids alone, in batches
of nearly the same size. Where the judge twice gives a batch no usable reply, its passages are asked about one by one.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import ceil
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, create_model

from ragassay.models.requests import Reply, Request
from ragassay.prompts import Message, Prompt
from ragassay.records import Assessment

from ..engine.cases import PassageCase, PassagesCase, QueryCase
from ..engine.evaluator import Steps
from ..engine.judge import Judge
from ..engine.labels import Label
from ..engine.reply import JudgeFailed, Reason, Strict, check_each_once, read_value
from ..judges import PROMPTS
from ..judges.relevance import Relevance, RelevanceReply

DEFAULT_PROMPT = PROMPTS / "relevance_batch.md"
STRICT_PROMPT = PROMPTS / "relevance_batch_strict.md"


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
    """Asks for a reason and a label of each of up to `size` passages; about a single one it asks as `one` does."""

    def __init__(self, one: Relevance, prompt: Prompt, size: int, seed: int) -> None:
        self.setup, self.one, self.template, self.size, self.seed = one.setup, one, prompt, size, seed

    @property
    def batch_label(self) -> str:
        """`relevance-batch`."""
        return f"{self.one.batch_label}-batch"

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
        """One for each passage."""
        return [row for each in case.single for row in self.one.owed(each)]

    def steps(self, case: PassagesCase) -> Steps:
        """One request, and where it comes to nothing one for each passage."""
        if len(case.passages) > 1:
            schema = batch_schema(len(case.passages))
            (reply,) = yield [Request(self.messages(case), schema, items=len(case.passages))]
            if reply.error is None:
                grades: Any = read_value(reply, schema)
                by_number = {grade.number: grade for grade in grades.grades}
                return [self._graded(each, by_number[number]) for number, each in enumerate(case.single, 1)]
        replies = yield [self.one.request(each) for each in case.single]
        return [self._read(each, reply) for each, reply in zip(case.single, replies, strict=True)]

    def messages(self, case: PassagesCase) -> tuple[Message, ...]:
        """The prompt with the query and the passages in it. Raises InputError where it names something else."""
        return self.template.render({"query": case.query, "passages": case.passages})

    def _graded(self, case: PassageCase, grade: Any) -> Assessment:
        return self.one.assess(case, grade.label, reason=grade.reason)

    def _read(self, case: PassageCase, reply: Reply) -> Assessment:
        try:
            return self.one.read(case, reply)
        except JudgeFailed as error:
            return self.one.fail(case, str(error))
