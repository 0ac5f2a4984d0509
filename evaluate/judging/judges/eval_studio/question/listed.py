"""The evaluators of answers held against the question."""

from __future__ import annotations

from ....engine.evaluator import Evaluator
from .by_sentences import AnswerRelevancySentences
from .language_mismatch import LanguageMismatch
from .relevancy import AnswerRelevancy

JUDGES: tuple[type[Evaluator], ...] = (
    AnswerRelevancy,
    AnswerRelevancySentences,
    LanguageMismatch,
)
"""In the order in which they are listed."""
