"""The evaluators of answers that sum up a text."""

from __future__ import annotations

from ....engine.evaluator import Evaluator
from .by_judge import SummaryCompleteness, SummaryFaithfulness, SummaryQuality

JUDGES: tuple[type[Evaluator], ...] = (SummaryCompleteness, SummaryFaithfulness, SummaryQuality)
"""In the order in which they are listed."""
