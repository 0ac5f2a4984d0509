"""Semantic similarity: how near the answer is to the expected response, by embeddings or by a cross-encoder.

H2O Eval Studio's "answer semantic similarity", which is Ragas': the cosine of both embeddings, -1 to 1, or what a
cross-encoder for semantic similarity gives for the two, 0 to 1 (Risch et al. 2021, arXiv:2108.06130). There is no value
where one of the texts holds no words, or where a cross-encoder would have to cut the pair off.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from pydantic import Field

from ragassay.models.encoders import check_encoder
from ragassay.records import Assessment

from .....texts.cross_encoder import CrossEncoder, Pair, Source, load_cross_encoder
from .....texts.windows import n_tokens
from ....engine.cases import AnswerCase, expected_response
from ....engine.evaluator import NO_VALUE, Criterion
from ....engine.reply import JudgeFailed
from .. import H2O_PAGE
from ..by_embedding import ByEmbedding, EmbeddingOptions
from ..words import check_words, has_words


class SimilarityOptions(EmbeddingOptions):
    """`[evaluate.settings.semantic_similarity]`.

    cross_encoder: a folder or a hub name, in place of the embedding. revision, trust_remote_code, entailment: of the
    cross-encoder; the last is the index of the class that says that the texts mean the same, where it has several.
    """

    cross_encoder: str | None = Field(None, min_length=1)
    revision: str | None = None
    trust_remote_code: bool = False
    entailment: int | None = Field(None, ge=0)


class SemanticSimilarity(ByEmbedding):
    """Compares each answer with `metadata.expected_response`, each of them whole."""

    name = "semantic_similarity"
    family = "eval-studio-truth"
    about = "how near the answer is to the expected response, each whole: cosine of embeddings, or a cross-encoder"
    needs = ("expected_response",)
    reads = ("expected_response", "answer")
    source = f"{H2O_PAGE} (Answer Semantic Similarity); arXiv:2108.06130"
    options_type = SimilarityOptions
    options: SimilarityOptions

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The cosine, or the cross-encoder's score, which begins at 0."""
        return (Criterion(self.name, 0.0 if self.options.cross_encoder else -1.0, 1.0, threshold=0.75),)

    @property
    def judge(self) -> str:
        """The embedding model, or the cross-encoder with its revision where one is set."""
        chosen = self.options
        if not chosen.cross_encoder:
            return self.embedding
        return f"{chosen.cross_encoder}@{chosen.revision}" if chosen.revision else chosen.cross_encoder

    @cached_property
    def cross_encoder(self) -> CrossEncoder:
        """The cross-encoder, loaded when first used. Raises InputError."""
        chosen = self.options
        named = Source(
            chosen.cross_encoder or "",
            chosen.revision,
            chosen.trust_remote_code,
            chosen.entailment,
            evaluator=self.name,
            option="cross_encoder",
        )
        return load_cross_encoder(named)

    def check_at_hand(self) -> None:
        """Raises InputError where there is no such model."""
        check_encoder(self.options.cross_encoder or self.embedding, self.name)

    def prepare(self, cases: Sequence[AnswerCase]) -> None:
        """Note all texts, or score all distinct pairs, in batches of like length."""
        if not self.options.cross_encoder:
            return super().prepare(cases)
        pairs = sorted({_pair(case) for case in cases}, key=lambda pair: (len(pair[0] + pair[1]), pair))
        fitting = [pair for pair in pairs if all(map(has_words, pair)) and self._fits(pair)]
        scores = self.cross_encoder.scores(fitting).tolist() if fitting else []
        self._scores: dict[Pair, float] = dict(zip(fitting, scores, strict=True))
        return None

    def texts(self, case: AnswerCase) -> Sequence[str]:
        """Both."""
        return [text for text in _pair(case) if has_words(text)]

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """No requests. Raises JudgeFailed where one of the texts holds no words, or both are too long."""
        expected, answer = _pair(case)
        check_words(answer, "answer")
        check_words(expected, "expected response")
        if not self.options.cross_encoder:
            return [self.assess(case, self.nearest([answer], [expected])[0][0])]
        if (expected, answer) not in self._scores:
            limit = self.cross_encoder.limit
            raise JudgeFailed(f"{NO_VALUE}the two texts are longer than the {limit} tokens that {self.judge} reads")
        return [self.assess(case, self._scores[expected, answer])]

    def _fits(self, pair: Pair) -> bool:
        model = self.cross_encoder
        size = model.overhead() + sum(n_tokens(text, model.tokenizer) for text in pair)
        return not model.limit or size <= model.limit


def _pair(case: AnswerCase) -> Pair:
    return expected_response(case.query) or "", case.text
