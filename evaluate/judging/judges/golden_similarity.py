"""Golden similarity: the cosine of the embeddings of the answer and of the expected response, -1 to 1.

As Open RAG Eval's `semantic_similarity` (vectara/open-rag-eval, metrics/golden_answer_metrics.py). The embedding is the
experiment's. Both texts are answers, so both get the same prefix: E5's "query: ", which its authors give for symmetric
tasks (Wang et al. 2022, arXiv:2212.03533, and the model card), or what the model declares for passages, or none. What
is longer than the model reads is embedded in stretches, whose vectors are averaged by their length in tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import isinf
from typing import Any

import numpy as np

from ragassay.arrays import Floats
from ragassay.errors import MissingExtra
from ragassay.models.encoders import check_encoder, load_encoder, prompt_for
from ragassay.records import Assessment

from ...texts.windows import n_tokens, windows
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

    @cached_property
    def model(self) -> Any:
        """The embedding model, loaded when first used. Raises InputError."""
        try:
            return load_encoder(self.setup.embedding)
        except ModuleNotFoundError as error:
            raise MissingExtra(f"golden_similarity needs {error.name}, which", "local") from None

    def check_at_hand(self) -> None:
        """Raises InputError where there is no embedding model."""
        check_encoder(self.setup.embedding, self.name)

    def prepare(self, cases: Sequence[AnswerCase]) -> None:
        """Embed every distinct text of all cases once."""
        texts = sorted({text for case in cases for text in _texts(case)})
        self._vectors = dict(zip(texts, self._embed(texts), strict=True))

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """No requests: everything was embedded before."""
        given, expected = (self._vectors[text] for text in _texts(case))
        lengths = float(np.linalg.norm(given) * np.linalg.norm(expected))
        if not np.isfinite(lengths) or lengths == 0:
            raise ValueError(f"{self.judge} gives no vector")
        return [self.assess(case, float(np.clip(given @ expected / lengths, -1.0, 1.0)))]

    def _embed(self, texts: Sequence[str]) -> list[Floats]:
        """The vector of each text."""
        model, limit = self.model, _limit(self.model)
        prompt = prompt_for(self.setup.embedding, model.prompts, "query")
        if prompt != "query: ":
            prompt = prompt_for(self.setup.embedding, model.prompts, "passage")
        parts = [(index, part) for index, text in enumerate(texts) for part in self._parts(text, prompt, limit)]
        rows = model.encode([part for _, part in parts], prompt=prompt, batch_size=32, show_progress_bar=False)
        vectors = [np.zeros(np.shape(rows)[-1]) for _ in texts]
        for (index, part), row in zip(parts, np.asarray(rows, dtype=np.float64), strict=True):
            weight = n_tokens(part, model.tokenizer) if limit else 1
            vectors[index] += weight * row / (np.linalg.norm(row) or 1.0)
        return vectors

    def _parts(self, text: str, prompt: str, limit: int | None) -> list[str]:
        """The text in stretches that the model reads whole, one for nearly every answer."""
        if not limit:
            return [text]
        tokenizer = self.model.tokenizer
        room = limit - n_tokens(prompt, tokenizer) - tokenizer.num_special_tokens_to_add() - 2
        return windows(text, tokenizer, max(room, 1)) or [text]


def _limit(model: Any) -> int | None:
    """How many tokens the model reads, None for any number (static embeddings)."""
    limit = model.max_seq_length
    return None if limit is None or isinf(limit) else int(limit)


def _texts(case: AnswerCase) -> tuple[str, str]:
    return case.text, expected_response(case.query) or ""
