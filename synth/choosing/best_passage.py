"""The passage that BM25 finds first for a question, as people's questions and written ones are measured by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..questions.near_duplicates import content_of, tokens_of

K1, B = 1.2, 0.75
"""Lucene's defaults."""


class Passages:
    """The passages of a corpus, searched by their words' stems (bm25s with Lucene's formula)."""

    def __init__(self, texts: Sequence[str], language: str) -> None:
        self._language, self._texts = language, texts
        rows = [self._terms(text) for text in texts]
        self._index = _index(rows) if any(rows) else None

    def best(self, question: str) -> str:
        """The text of the first passage, of equals the first in order; "" where none shares a word with it."""
        terms = self._terms(question)
        if self._index is None or not terms:
            return ""
        scores = self._index.get_scores(terms)
        first = int(scores.argmax())
        return self._texts[first] if scores[first] > 0 else ""

    def _terms(self, text: str) -> list[str]:
        return content_of((token.casefold() for token in tokens_of(text)), self._language)


def _index(rows: Sequence[Sequence[str]]) -> Any:
    import bm25s

    index = bm25s.BM25(k1=K1, b=B, method="lucene", dtype="float64", backend="numpy")
    index.index(rows, show_progress=False)
    return index
