"""The evaluators of answers held against the retrieved passages."""

from __future__ import annotations

from ....engine.evaluator import Evaluator
from .by_sentences import GroundednessEmbeddings
from .faithfulness import Faithfulness
from .step_alignment import StepAlignment

JUDGES: tuple[type[Evaluator], ...] = (
    Faithfulness,
    StepAlignment,
    GroundednessEmbeddings,
)
"""In the order in which they are listed."""
