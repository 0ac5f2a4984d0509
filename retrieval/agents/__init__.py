"""The agents, and the prompts of those that come with ragassay."""

from pathlib import Path

PROMPTS = Path(__file__).with_name("prompts")
ANSWER_PROMPT = PROMPTS / "answer.md"
LONG_CONTEXT_PROMPT = PROMPTS / "long-context.md"
REWRITE_PROMPT = PROMPTS / "rewrite.md"

REWRITING_FAILED = "rewriting the query failed"
"""How the error of an answer begins that nothing was searched for."""
