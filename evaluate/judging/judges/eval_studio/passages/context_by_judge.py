"""Context precision, recall and relevancy: what of the retrieved passages is of use, by the judge's yes or no.

Ragas' metrics of these names (explodinggradients/ragas; Es et al. 2024, arXiv:2309.15217, section 3, for relevancy),
which are H2O Eval Studio's. With v_k = 1 where the passage at rank k is of use for the expected response:

- context_precision = sum over k of v_k P@k / sum over k of v_k,    P@k = (v_1 + … + v_k) / k; 0 where none is of use;
- context_recall    = sentences of the expected response that the passages together support / all its sentences;
- context_relevancy = sentences of the passages that help to answer the question / all their sentences.

No value where nothing was retrieved or the context is empty. Requests on a passage name neither agent nor answer, so
that agents that retrieved the same pay for it once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import ClassVar

from ragassay.records import Passage

from .....texts.sentences import sentences
from ....engine.cases import AnswerCase, expected_response
from ....engine.evaluator import Criterion, Evaluator, Steps
from ....engine.probability import Graded
from ....engine.question import LabelQuestion
from ....engine.reply import JudgeFailed
from .. import H2O_PAGE, TAGS
from ..by_verdicts import NO_YES, THRESHOLD, YesShare, checked_context, verdicts_on
from ..words import check_words

FAMILY = "eval-studio-passages"
PROMPTS = Path(__file__).with_name("prompts")


class ContextPrecision(Evaluator):
    """One request for each passage."""

    name = "context_precision"
    family = FAMILY
    about = "whether the passages that are of use for the expected response stand first (mean P@k at their ranks)"
    needs = ("expected_response",)
    reads = ("question", "expected_response", "context")
    source = f"{H2O_PAGE} (Context Precision)"
    tags = TAGS
    calls = 5.0
    default_prompt: ClassVar = PROMPTS / "context_precision.md"

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The average precision, 0 to 1."""
        return (Criterion(self.name, threshold=THRESHOLD),)

    @cached_property
    def asked(self) -> LabelQuestion:
        """What is asked of a passage. Raises InputError where the prompt cannot be read."""
        return LabelQuestion(self.prompt(), NO_YES, self.setup.mode, self.options.criteria, self.options.examples)

    def steps(self, case: AnswerCase) -> Steps:
        """Whether each passage is of use, then the precision."""
        passages, question = checked_context(case), self.asked
        values = {"query": case.query, "expected_response": expected_response(case.query) or ""}
        replies = yield [question.request(values | {"passage": passage}) for passage in passages]
        grades: list[Graded] = []
        errors: list[str] = []
        for reply in replies:
            try:
                grades.append(question.read(reply))
            except (JudgeFailed, ValueError) as error:
                errors.append(str(error))
        if errors:
            raise JudgeFailed(f"{len(errors)} of {len(passages)} passages could not be judged: {errors[0]}")
        value = average_precision([bool(grade.label) for grade in grades])
        return [self.assess(case, value, details=[_detail(*pair) for pair in zip(passages, grades, strict=True)])]


def average_precision(useful: Sequence[bool]) -> float:
    """The mean of P@k over the ranks of what is of use; 0 where nothing is."""
    at = [found / rank for rank, found in enumerate(accumulate(map(int, useful)), 1)]
    return sum(p for p, one in zip(at, useful, strict=True) if one) / sum(useful) if any(useful) else 0.0


def _detail(passage: Passage, grade: Graded) -> dict[str, object]:
    more: dict[str, object] = {"reason": grade.reason, "probability": grade.probability}
    kept = {name: value for name, value in more.items() if value is not None}
    return {"passage": passage.id, "label": NO_YES[int(grade.label)], **kept}


class ContextRecall(YesShare):
    """One request for each ten sentences of the expected response."""

    name = "context_recall"
    family = FAMILY
    about = "the share of the expected response's sentences that the passages support"
    needs = ("expected_response",)
    reads = ("question", "expected_response", "context")
    source = f"{H2O_PAGE} (Context Recall)"
    what = "sentences"
    default_prompt: ClassVar = PROMPTS / "context_recall.md"

    def steps(self, case: AnswerCase) -> Steps:
        """The verdicts on the sentences of the expected response."""
        passages, expected = checked_context(case), expected_response(case.query) or ""
        check_words(expected, "expected response")
        texts = sentences(expected)
        verdicts = yield from verdicts_on(self.question, [({"query": case.query, "passages": passages}, texts)])
        return self.share(case, texts, verdicts)


class ContextRelevancy(YesShare):
    """One request for each ten sentences of a passage."""

    name = "context_relevancy"
    family = FAMILY
    about = "the share of the passages' sentences that help to answer (context_relevance grades whole passages)"
    reads = ("question", "context")
    source = f"{H2O_PAGE} (Context Relevancy); arXiv:2309.15217"
    what = "sentences"
    calls = 5.0
    default_prompt: ClassVar = PROMPTS / "context_relevancy.md"

    def steps(self, case: AnswerCase) -> Steps:
        """The verdicts on the sentences of each passage."""
        passages = checked_context(case)
        check_words(" ".join(passage.text for passage in passages), "context")
        cut = [(passage, sentences(passage.text)) for passage in passages]
        groups = [({"query": case.query, "title": passage.title}, texts) for passage, texts in cut]
        verdicts = yield from verdicts_on(self.question, groups)
        return self.share(case, [text for _, texts in cut for text in texts], verdicts)
