"""Sentence similarity: each sentence of the answer against the nearest sentence of the expected response.

H2O Eval Studio's "answer semantic sentence similarity" (mean and min answer similarity). With A the sentences of the
answer and E those of the expected response,

    mean, or min, over a in A of max over e in E of cosine(a, e).

No sentence is left out as too short, unless the settings say so. There is no value where a text holds no words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragassay.records import Assessment

from ....engine.cases import AnswerCase, expected_response
from ....engine.evaluator import NO_VALUE, Criterion
from ....engine.parts import records
from ....engine.reply import JudgeFailed
from .. import H2O_PAGE
from ..by_embedding import ByEmbedding, SentenceOptions, answer_sentences, checked_answer

MEAN, LEAST = "sentence_similarity_mean", "sentence_similarity_min"


class EverySentence(SentenceOptions):
    """`[evaluate.settings.sentence_similarity]`, by which every sentence counts."""

    shortest: int = 1


class SentenceSimilarity(ByEmbedding):
    """Compares the sentences of each answer with those of `metadata.expected_response`."""

    name = "sentence_similarity"
    family = "eval-studio-truth"
    about = "each sentence of the answer against the nearest one of the expected response: the mean, and the least"
    needs = ("expected_response",)
    reads = ("expected_response", "answer")
    source = f"{H2O_PAGE} (Answer Semantic Sentence Similarity)"
    options_type = EverySentence
    options: EverySentence

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The mean and the minimum of the cosines."""
        return tuple(Criterion(name, -1.0, 1.0, threshold=0.75) for name in (MEAN, LEAST))

    def texts(self, case: AnswerCase) -> Sequence[str]:
        """The sentences of both."""
        return [*answer_sentences(case.text, self.options.shortest), *self._expected(case)]

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """No requests. The first record's details name the sentence of the answer that is least like any expected."""
        said, expected = checked_answer(case, self.options.shortest), self._expected(case)
        if not expected:
            raise JudgeFailed(NO_VALUE + "the expected response is too short to embed")
        near = self.nearest(said, expected)
        scores = [score for score, _ in near]
        least = int(np.argmin(scores))
        details = [{"sentence": said[least], "score": scores[least], "nearest": near[least][1]}]
        return records(self, case, {MEAN: float(np.mean(scores)), LEAST: scores[least]}, {}, details=details)

    def _expected(self, case: AnswerCase) -> tuple[str, ...]:
        return answer_sentences(expected_response(case.query) or "", self.options.shortest)
