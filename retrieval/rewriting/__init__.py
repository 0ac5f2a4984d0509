"""Queries rewritten by a chat model before they are searched, and the prompts for it."""

from pathlib import Path

PROMPTS = Path(__file__).with_name("prompts")
WAY_PROMPTS = {way: PROMPTS / f"{way}.md" for way in ("hyde", "decompose", "step-back")}
"""By the way of rewriting; that of fusion is RAG-Fusion's."""
