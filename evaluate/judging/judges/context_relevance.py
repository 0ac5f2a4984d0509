"""Context relevance of the RAG triad: how much of what is asked a passage answers, each passage alone.

After TruLens, https://www.trulens.org/getting_started/core_concepts/rag_triad/ ("context relevance"), with grades of 0
to 3, of which 2 and 3 count as relevant, as in its benchmark on TREC-DL: Snowflake 2025, "Benchmarking LLM-as-a-Judge
for the RAG Triad Metrics", https://www.snowflake.com/en/engineering-blog/benchmarking-LLM-as-a-judge-RAG-triad-metrics/.
The prompt is ours.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ragassay.records import Assessment

from ..engine.cases import Case
from ..engine.probability import Graded
from . import PROMPTS
from .triad import TriadJudge


class ContextRelevance(TriadJudge):
    """Grades each passage by itself; `details` say whether it counts as relevant."""

    name = "context_relevance"
    about = "how much of what is asked a passage answers; on 0 to 3 relevant from 2"
    unit = "passage"
    default_prompt: ClassVar = PROMPTS / "context_relevance.md"

    @property
    def relevant(self) -> int:
        """The lowest grade that counts as relevant: two thirds up the scale, rounded up; 2 on 0 to 3, 7 on 0 to 10."""
        lowest, highest = self.options.scale
        return lowest - (-2 * (highest - lowest) // 3)

    def graded(self, case: Case, grade: Graded, **more: Any) -> Assessment:
        """The assessment with whether the passage is relevant."""
        return super().graded(case, grade, details=[{"relevant": grade.label >= self.relevant}], **more)
