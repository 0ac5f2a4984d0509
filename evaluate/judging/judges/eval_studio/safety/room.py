"""What the evaluators of this room share: their family, their source, and when an answer holds nothing to look at."""

from __future__ import annotations

from pathlib import Path

from ....engine.evaluator import NO_VALUE

FAMILY = "eval-studio-safety"
DOCS = "https://docs.h2o.ai/eval-studio-docs/evaluators"
PROMPTS = Path(__file__).with_name("prompts")
NO_WORDS = f"{NO_VALUE}the answer holds no words"

SHOWN = 50
"""Findings that a record lists."""


def is_empty(text: str) -> bool:
    """Whether it has no letter and no digit."""
    return not any(map(str.isalnum, text))
