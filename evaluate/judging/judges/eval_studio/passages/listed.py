"""The evaluators of what was retrieved, and scores made of others."""

from __future__ import annotations

from ....engine.evaluator import Evaluator
from .by_embeddings import ContextMrr, ContextRelevancySoft
from .context_by_judge import ContextPrecision, ContextRecall, ContextRelevancy
from .ragas_score import RagasScore

JUDGES: tuple[type[Evaluator], ...] = (
    ContextPrecision,
    ContextRecall,
    ContextRelevancy,
    RagasScore,
    ContextRelevancySoft,
    ContextMrr,
)
"""In the order in which they are listed."""
