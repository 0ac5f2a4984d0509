"""The evaluators of what an answer must not hold."""

from __future__ import annotations

from ....engine.evaluator import Evaluator

JUDGES: tuple[type[Evaluator], ...] = ()
"""In the order in which they are listed."""
