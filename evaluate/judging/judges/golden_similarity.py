"""Golden similarity: the cosine of the embeddings of the answer and of the expected response, -1 to 1.

As Open RAG Eval's `semantic_similarity` (vectara/open-rag-eval, metrics/golden_answer_metrics.py). The embedding is the
experiment's. Both texts are answers, so both get the same prefix, and what is longer than the model reads is embedded
in stretches (`evaluate/texts/embedded.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.models.encoders import check_encoder
from ragassay.records import Assessment

from ...texts.embedded import Embedded
from ..engine.cases import AnswerCase, expected_response
from ..engine.evaluator import Criterion, Evaluator


class GoldenSimilarity(Evaluator):
    """Compares each answer with `metadata.expected_response`."""

    name = "golden_similarity"
    calls = 0.0
    family = "open-rag-eval"
    about = "how near the answer is to the expected response, by embeddings"
    reads = ("expected_response", "answer")
    asks = "model"
    source = "Open RAG Eval (vectara/open-rag-eval)"
    tags = ("valid and reliable", "outcomes analysis")
    unit = "answer"
    needs = ("expected_response",)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The cosine."""
        return (Criterion(self.name, -1.0, 1.0, threshold=0.75),)

    @property
    def judge(self) -> str:
        """The embedding model."""
        return self.setup.embedding

    @property
    def embedded(self) -> Embedded:
        """The vectors, which it shares with the others that embed."""
        return self.setup.embeddings.of(self.setup.embedding)

    def check_at_hand(self) -> None:
        """Raises InputError where there is no embedding model."""
        check_encoder(self.setup.embedding, self.name)

    def prepare(self, cases: Sequence[AnswerCase]) -> None:
        """Embed every distinct text of all cases once."""
        self.embedded.add(text for case in cases for text in _texts(case))

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """No requests: everything is embedded at once."""
        return [self.assess(case, self.embedded.cosine(*_texts(case)))]


def _texts(case: AnswerCase) -> tuple[str, str]:
    return case.text, expected_response(case.query) or ""
