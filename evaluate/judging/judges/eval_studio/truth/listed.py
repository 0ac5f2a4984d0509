"""The evaluators of answers held against an expected response."""

from __future__ import annotations

from ....engine.evaluator import Evaluator
from .answer_correctness import AnswerCorrectnessClaims
from .bleu import Bleu
from .classification import Classification
from .rouge import Rouge
from .sentence_similarity import SentenceSimilarity
from .similarity import SemanticSimilarity

JUDGES: tuple[type[Evaluator], ...] = (
    AnswerCorrectnessClaims,
    SemanticSimilarity,
    SentenceSimilarity,
    Bleu,
    Rouge,
    Classification,
)
"""In the order in which they are listed."""
