"""The evaluators that may look things up."""

from __future__ import annotations

from ....engine.evaluator import Evaluator
from .fact_check import FactCheck

JUDGES: tuple[type[Evaluator], ...] = (FactCheck,)
"""In the order in which they are listed."""
