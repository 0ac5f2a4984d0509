"""The evaluators of answers held against an expected response."""

from __future__ import annotations

from ....engine.evaluator import Evaluator
from .bleu import Bleu
from .classification import Classification
from .rouge import Rouge

JUDGES: tuple[type[Evaluator], ...] = (Bleu, Rouge, Classification)
"""In the order in which they are listed."""
