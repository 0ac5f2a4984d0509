"""Answer relevancy by sentences: whether a sentence of the answer is near the question, without a judge.

H2O Eval Studio's "answer relevancy (sentence similarity)":

    max over the sentences a of the answer of cosine(question, a).

Sentences of ten characters and fewer are left out. There is no value where that leaves none, or where the question
holds no words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragassay.records import Assessment

from ....engine.cases import AnswerCase
from ....engine.evaluator import Criterion
from .. import H2O_PAGE
from ..by_embedding import ByEmbedding, SentenceOptions, answer_sentences, checked_answer
from ..words import check_words


class AnswerRelevancySentences(ByEmbedding):
    """Compares the question with the sentences of each answer."""

    name = "answer_relevancy_sentences"
    family = "eval-studio-question"
    about = "how near the nearest sentence of the answer is to the question, by embeddings"
    reads = ("question", "answer")
    source = f"{H2O_PAGE} (Answer Relevancy, sentence similarity)"
    options_type = SentenceOptions
    options: SentenceOptions

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The highest cosine."""
        return (Criterion(self.name, -1.0, 1.0, threshold=0.75),)

    def texts(self, case: AnswerCase) -> Sequence[str]:
        """The question and the answer's sentences."""
        return [case.query.text, *answer_sentences(case.text, self.options.shortest)]

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """No requests. The details name the nearest sentence."""
        check_words(case.query.text, "question")
        said = checked_answer(case, self.options.shortest)
        scores = [score for score, _ in self.nearest(said, [case.query.text])]
        best = int(np.argmax(scores))
        return [self.assess(case, scores[best], details=[{"sentence": said[best], "score": scores[best]}])]
