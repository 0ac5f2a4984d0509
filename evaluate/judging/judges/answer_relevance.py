"""Answer relevance of the RAG triad: how many parts of the question the answer addresses.

After TruLens, https://www.trulens.org/getting_started/core_concepts/rag_triad/ ("answer relevance"): refusals, answers
that only seem relevant and confident falsehoods get the lowest grade; correctness is not judged beyond that. The
passages are not shown. The prompt is ours.
"""

from __future__ import annotations

from typing import ClassVar

from . import PROMPTS
from .triad import TriadJudge


class AnswerRelevance(TriadJudge):
    """Grades each answer, on 0 to 3 unless a scale is set."""

    name = "answer_relevance"
    about = "how many parts of the question the answer addresses; a refusal gets the lowest grade"
    reads = ("question", "answer")
    source = "TruLens, the RAG triad (truera/trulens)"
    tags = ("valid and reliable", "ongoing monitoring", "outcomes analysis")
    unit = "answer"
    default_prompt: ClassVar = PROMPTS / "answer_relevance.md"
