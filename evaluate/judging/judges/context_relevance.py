"""Context relevance of the RAG triad: how relevant a passage is to what is asked, each passage alone.

After TruLens (truera/trulens, `src/feedback/trulens/feedback/templates/rag.py`, `ContextRelevance`): its grades of 0
to 3 for questions, search phrases and statements, which are judged as they are given, in our words, and seven examples
of our own for what its authors' seven show. 2 and 3 count as relevant, as in its benchmark on TREC-DL: Snowflake 2025,
"Benchmarking LLM-as-a-Judge for the RAG Triad Metrics",
https://www.snowflake.com/en/engineering-blog/benchmarking-LLM-as-a-judge-RAG-triad-metrics/. With
`prompts = "ragassay"` the grades are stricter, of statements above all, which then need evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

from ragassay.files import read_objects
from ragassay.records import Assessment

from ..engine.cases import Case
from ..engine.evaluator import Criterion
from ..engine.probability import Graded
from . import PROMPTS
from .triad import TriadJudge

EXAMPLES = PROMPTS / "context_relevance_examples.jsonl"
"""Seven, of each kind of query and each grade of 0 to 3."""


class ContextRelevance(TriadJudge):
    """Grades each passage by itself; `details` say whether it counts as relevant."""

    name = "context_relevance"
    about = "how relevant a passage is to what is asked; on 0 to 3 relevant from 2"
    reads = ("question", "context")
    source = "TruLens, the RAG triad (truera/trulens)"
    tags = ("valid and reliable", "ongoing monitoring", "outcomes analysis")
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
