"""The evaluators of answers held against the retrieved passages."""

from __future__ import annotations

from ....engine.evaluator import Evaluator
from .by_sentences import GroundednessEmbeddings

JUDGES: tuple[type[Evaluator], ...] = (GroundednessEmbeddings,)
"""In the order in which they are listed."""
