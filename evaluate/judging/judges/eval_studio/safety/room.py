"""What the evaluators of this room share: their family, their prompts, and what their records say."""

from __future__ import annotations

from pathlib import Path

from ....engine.evaluator import NO_VALUE

FAMILY = "eval-studio-safety"
PROMPTS = Path(__file__).with_name("prompts")
NO_WORDS = f"{NO_VALUE}the answer holds no words"

SHOWN = 50
"""Findings that a record lists."""
