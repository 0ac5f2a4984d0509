"""Questions, and the prompts for them that come with ragassay."""

from pathlib import Path

PROMPTS = Path(__file__).with_name("prompts")
DEFAULT_PROMPT = PROMPTS / "questions.md"
GOLDEN_PROMPT = PROMPTS / "golden_answers.md"
ROLES_PROMPT = PROMPTS / "roles.md"
QUOTES_PROMPT = PROMPTS / "quotes.md"
STEPS = ("need", "linked", "blind", "evidence")
"""The steps of writing from the need: `prompts/STEP.md`, or the user's own of the setting `STEP_prompt`."""
CONVERSATION_PROMPTS = {step: PROMPTS / f"{step}.md" for step in ("chain", "turns", "restore", "same")}
"""Those of conversations, beside that of blind questions."""
