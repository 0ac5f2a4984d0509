"""The judges by their subjects, with their prompts in `prompts/`."""

from pathlib import Path

PROMPTS = Path(__file__).with_name("prompts")

_EVERY = ("", "_token", "_strict", "_strict_token")
_ENDINGS = {
    **dict.fromkeys(("relevance", "pointwise", "pairwise"), _EVERY),
    "answer_correctness": ("", "_token"),
    "relevance_batch": ("", "_strict"),
    **dict.fromkeys(("relevance_yes_no", "listwise"), ("",)),
}
"""The prompts of the stage `judge`, and in which wordings there are files of each: the paper's or the strict one of
ours, for a reply with a reason or for a single token."""

STAGE_PROMPTS = tuple(PROMPTS / f"{name}{ending}.md" for name, endings in _ENDINGS.items() for ending in endings)


def stage_prompt(name: str, *, strict: bool, ending: str) -> Path:
    """The prompt of this name and ending ("_token" or ""), in the strict wording where there is one."""
    wished = f"_strict{ending}"
    return PROMPTS / f"{name}{wished if strict and wished in _ENDINGS[name] else ending}.md"
