"""The evaluators of the user's own yes or no, and a check of facts by a model with tools."""

from __future__ import annotations

from ....engine.evaluator import Evaluator
from .fact_check import FactCheck

JUDGES: tuple[type[Evaluator], ...] = (FactCheck,)
"""In the order in which they are listed."""
