"""Whether a text holds words: of one that holds none, nothing can be judged or embedded."""

from __future__ import annotations

from ...engine.evaluator import NO_VALUE
from ...engine.reply import JudgeFailed


def has_words(text: str) -> bool:
    """Whether there is a letter or a digit in it."""
    return any(character.isalnum() for character in text)


def check_words(text: str, what: str) -> None:
    """Raises JudgeFailed, as no value, where a text holds no words. what: its name in the error."""
    if not has_words(text):
        raise JudgeFailed(f"{NO_VALUE}the {what} holds no words")
