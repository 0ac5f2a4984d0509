"""Queries rewritten by a chat model before they are searched, and the prompts for it."""

from pathlib import Path

PROMPTS = Path(__file__).with_name("prompts")
HYDE_PROMPT = PROMPTS / "hyde.md"
DECOMPOSE_PROMPT = PROMPTS / "decompose.md"
STEP_BACK_PROMPT = PROMPTS / "step-back.md"
