"""Summaries judged good or bad: does one say all that matters in the text, and nothing that is not in it?

H2O Eval Studio has "Summarization (Completeness and Faithfulness)", which it computes from embeddings and SummaC, and
"Summarization (Judge)", which has a model say good or bad. Here the judge says good (1) or bad (0) of the completeness
and of the faithfulness, and of the whole by that evaluator's rule: comprehensive, concise, coherent, and understandable
by itself. The text is the retrieved passages, or with `document = "question"` the question, as there. No value where
the text or the summary is empty. The prompts are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from ....engine.cases import AnswerCase
from ....engine.evaluator import Criterion, LabelJudge, Options, Steps
from .. import H2O_PAGE, TAGS
from ..by_verdicts import checked_context
from ..words import check_words

PROMPTS = Path(__file__).with_name("prompts")


class SummaryOptions(Options):
    """document: what is summed up, the retrieved passages ("context") or the question itself ("question")."""

    document: Literal["context", "question"] = "context"


class SummaryJudge(LabelJudge):
    """One request, answered with bad (0) or good (1)."""

    family = "eval-studio-summaries"
    labels = ("bad", "good")
    reads = ("question", "context", "answer")
    tags = TAGS
    options: SummaryOptions
    options_type = SummaryOptions

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """0 or 1."""
        return (Criterion(self.name, threshold=0.5),)

    def values(self, case: AnswerCase) -> Mapping[str, Any]:
        """With `documents`, the texts that are summed up."""
        return {**super().values(case), "documents": self._documents(case)}

    def steps(self, case: AnswerCase) -> Steps:
        """One request, or no value. Raises JudgeFailed without the passages' texts."""
        check_words(case.text, "summary")
        return (yield from super().steps(case))

    def _documents(self, case: AnswerCase) -> tuple[str, ...]:
        if self.options.document == "question":
            check_words(case.query.text, "question")
            return (case.query.text,)
        return tuple(f"{passage.title}\n{passage.text}" for passage in checked_context(case))


class SummaryCompleteness(SummaryJudge):
    """Does the summary hold all that matters?"""

    name = "summary_completeness"
    about = "whether a summary says all that matters in the text it sums up: good or bad"
    source = f"{H2O_PAGE} (Summarization, Completeness and Faithfulness)"
    default_prompt: ClassVar = PROMPTS / "summary_completeness.md"


class SummaryFaithfulness(SummaryJudge):
    """Does the summary hold nothing but what the text says?"""

    name = "summary_faithfulness"
    about = "whether a summary says only what the text it sums up says: good or bad"
    source = f"{H2O_PAGE} (Summarization, Completeness and Faithfulness)"
    default_prompt: ClassVar = PROMPTS / "summary_faithfulness.md"


class SummaryQuality(SummaryJudge):
    """Is the summary comprehensive, concise, coherent and understandable by itself?"""

    name = "summary_quality"
    about = "whether a summary is comprehensive, concise, coherent and understandable by itself: good or bad"
    source = f"{H2O_PAGE} (Summarization, Judge)"
    default_prompt: ClassVar = PROMPTS / "summary_quality.md"
