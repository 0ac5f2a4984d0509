"""The evaluators of the form of an answer: what it matches, parses as, repeats."""

from __future__ import annotations

from ....engine.evaluator import Evaluator

JUDGES: tuple[type[Evaluator], ...] = ()
"""In the order in which they are listed."""
