"""The evaluators of answers held against an expected response."""

from __future__ import annotations

from ....engine.evaluator import Evaluator
from .answer_correctness import AnswerCorrectnessClaims

JUDGES: tuple[type[Evaluator], ...] = (AnswerCorrectnessClaims,)
"""In the order in which they are listed."""
