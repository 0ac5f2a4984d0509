"""The evaluators of what was retrieved, and scores made of others."""

from __future__ import annotations

from ....engine.evaluator import Evaluator
from .by_embeddings import ContextMrr, ContextRelevancySoft

JUDGES: tuple[type[Evaluator], ...] = (ContextRelevancySoft, ContextMrr)
"""In the order in which they are listed."""
