"""The judges: one small module each, with its prompt in `prompts/`."""

from pathlib import Path

PROMPTS = Path(__file__).with_name("prompts")
