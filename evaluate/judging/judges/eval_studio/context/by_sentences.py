"""Groundedness by embeddings: whether every sentence of the answer is near some sentence of the passages.

H2O Eval Studio's "groundedness (semantic similarity)". With A the sentences of the answer and C those of all retrieved
passages,

    min over a in A of max over c in C of cosine(a, c).

Sentences of ten characters and fewer are left out of both. Nearness is not entailment: a sentence and its denial lie
near each other. There is no value where the answer has no such sentence or the agent retrieved nothing with words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragassay.records import Assessment

from ....engine.cases import AnswerCase
from ....engine.evaluator import NO_VALUE, Criterion
from ....engine.reply import JudgeFailed
from .. import H2O_PAGE
from ..by_embedding import (
    ByEmbedding,
    SentenceOptions,
    answer_sentences,
    checked_answer,
    checked_passages,
    passage_sentences,
)


class GroundednessEmbeddings(ByEmbedding):
    """Compares the sentences of each answer with those of all passages that its agent retrieved."""

    name = "groundedness_embeddings"
    family = "eval-studio-context"
    about = "how near the least grounded sentence of the answer is to a sentence of the passages (not groundedness)"
    reads = ("context", "answer")
    source = f"{H2O_PAGE} (Groundedness, semantic similarity)"
    options_type = SentenceOptions
    options: SentenceOptions

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The lowest of the highest cosines."""
        return (Criterion(self.name, -1.0, 1.0, threshold=0.75),)

    def texts(self, case: AnswerCase) -> Sequence[str]:
        """The sentences of the answer and of the passages."""
        return [*answer_sentences(case.text, self.options.shortest), *self._of_passages(case)]

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """No requests. The details name the least grounded sentence, its score and the sentence nearest to it."""
        checked_passages(case)
        said, read = checked_answer(case, self.options.shortest), self._of_passages(case)
        if not read:
            raise JudgeFailed(NO_VALUE + "the passages hold no words")
        near = self.nearest(said, read)
        least = int(np.argmin([score for score, _ in near]))
        score, nearest = near[least]
        return [self.assess(case, score, details=[{"sentence": said[least], "score": score, "nearest": nearest}])]

    def _of_passages(self, case: AnswerCase) -> list[str]:
        return [one for passage in case.passages for one in passage_sentences(passage.text, self.options.shortest)]
