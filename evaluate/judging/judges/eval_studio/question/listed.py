"""The evaluators of answers held against the question."""

from __future__ import annotations

from ....engine.evaluator import Evaluator
from .language_mismatch import LanguageMismatch

JUDGES: tuple[type[Evaluator], ...] = (LanguageMismatch,)
"""In the order in which they are listed."""
