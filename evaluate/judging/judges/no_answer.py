"""No-answer detection: does the answer answer the query at all? The mean is the share of questions answered.

Open RAG Eval, `open_rag_eval/metrics/no_answer_metric.py` (https://github.com/vectara/open-rag-eval): whether it is
right does not matter, and a part that is answered is enough. Label 1 for yes, 0 for no.
"""

from __future__ import annotations

from typing import ClassVar

from ..engine.evaluator import Criterion, LabelJudge
from . import PROMPTS


class NoAnswer(LabelJudge):
    """One question for each answer; its criterion, `answered`, is 1 for an answer and 0 for none."""

    name = "no_answer"
    family = "open-rag-eval"
    about = "whether the query was answered at all, rightly or not"
    labels = ("no", "yes")
    default_prompt: ClassVar = PROMPTS / "no_answer.md"

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """`answered`: 0 or 1."""
        return (Criterion("answered"),)
