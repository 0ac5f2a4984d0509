"""The evaluators of what was retrieved, and scores made of others."""

from __future__ import annotations

from ....engine.evaluator import Evaluator

JUDGES: tuple[type[Evaluator], ...] = ()
"""In the order in which they are listed."""
