"""Retrieved passages against the question by embeddings: soft recall and precision, and the rank of the first near one.

H2O Eval Studio's "context relevancy (soft recall and precision)" and "context mean reciprocal rank". The relevancy of a
passage p is that of its nearest sentence, r(p) = max over its sentences s of cosine(question, s), and

    soft_recall = max over p of r(p),   soft_precision = mean over p of r(p),

    context_mrr = 1 / rank of the first p with r(p) >= relevant_from, 0 where none of the first `depth` has that.

All are of one answer's passages, best first; the mean of the last over questions is the MRR. The expected response has
no part in them. Sentences of ten characters and fewer are left out, unless a passage has no others. There is no value
where the agent retrieved nothing (the source has an MRR of 0), the question holds no words, or a passage does not.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from ragassay.records import Assessment, Passage

from ....engine.cases import AnswerCase
from ....engine.evaluator import NO_VALUE, Criterion
from ....engine.parts import records
from ....engine.reply import JudgeFailed
from .. import H2O_PAGE
from ..by_embedding import ByEmbedding, SentenceOptions, checked_passages, passage_sentences
from ..words import check_words

RECALL, PRECISION = "soft_recall", "soft_precision"


class ByPassage(ByEmbedding):
    """What both share: the relevancy of each passage."""

    family = "eval-studio-passages"
    reads = ("question", "context")
    options_type = SentenceOptions
    options: SentenceOptions

    def passages(self, case: AnswerCase) -> Sequence[Passage]:
        """Those that count, best first."""
        return case.passages

    def texts(self, case: AnswerCase) -> Sequence[str]:
        """The question and the passages' sentences."""
        return [case.query.text, *(one for passage in self.passages(case) for one in self._sentences(passage))]

    def relevancies(self, case: AnswerCase) -> list[float]:
        """r(p) of each passage that counts. Raises JudgeFailed where one has none."""
        checked_passages(case)
        check_words(case.query.text, "question")
        return [self._relevancy(case, passage) for passage in self.passages(case)]

    def _relevancy(self, case: AnswerCase, passage: Passage) -> float:
        said = self._sentences(passage)
        if not said:
            raise JudgeFailed(f"{NO_VALUE}passage '{passage.id}' holds no words")
        return max(score for score, _ in self.nearest(said, [case.query.text]))

    def _sentences(self, passage: Passage) -> tuple[str, ...]:
        return passage_sentences(passage.text, self.options.shortest)


class ContextRelevancySoft(ByPassage):
    """The highest and the mean relevancy of the passages."""

    name = "context_relevancy_soft"
    about = "how near the retrieved passages are to the question, by embeddings: the nearest, and on average"
    source = f"{H2O_PAGE} (Context Relevancy, soft recall and precision)"

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The highest and the mean cosine."""
        return tuple(Criterion(name, -1.0, 1.0, threshold=0.75) for name in (RECALL, PRECISION))

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """No requests. The first record's details have the relevancy of each passage."""
        found = self.relevancies(case)
        details = [{"passage": passage.id, "score": score} for passage, score in zip(case.passages, found, strict=True)]
        return records(self, case, {RECALL: max(found), PRECISION: sum(found) / len(found)}, {}, details=details)


class MrrOptions(SentenceOptions):
    """`[evaluate.settings.context_mrr]`. relevant_from: a cosine; depth: how many passages are looked at."""

    relevant_from: float = Field(0.7, ge=-1, le=1)
    depth: int = Field(10, ge=1)


class ContextMrr(ByPassage):
    """How high up the first passage stands that is near the question."""

    name = "context_mrr"
    about = "the reciprocal rank of the first passage with a sentence near the question, by embeddings"
    source = f"{H2O_PAGE} (Context Mean Reciprocal Rank)"
    options_type = MrrOptions
    options: MrrOptions

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """1 / rank, or 0."""
        return (Criterion(self.name, threshold=0.75),)

    def passages(self, case: AnswerCase) -> Sequence[Passage]:
        """The first ones."""
        return case.passages[: self.options.depth]

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """No requests. The details name the first relevant passage."""
        for rank, score in enumerate(self.relevancies(case), 1):
            if score >= self.options.relevant_from:
                details = [{"passage": case.passages[rank - 1].id, "rank": rank, "score": score}]
                return [self.assess(case, 1 / rank, details=details)]
        return [self.assess(case, 0.0)]
