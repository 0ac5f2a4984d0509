"""The evaluators of how likely a language model finds an answer."""

from __future__ import annotations

from ....engine.evaluator import Evaluator

JUDGES: tuple[type[Evaluator], ...] = ()
"""In the order in which they are listed."""
