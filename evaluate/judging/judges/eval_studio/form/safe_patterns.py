"""Patterns of users, by RE2: its time grows with the text and not beyond, whatever the pattern (Cox 2010)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ragassay.errors import MissingExtra


class PatternError(ValueError):
    """Why RE2 cannot read a pattern."""


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Any:
    """The pattern, ready to search with. Raises PatternError; MissingExtra where google-re2 is not installed."""
    re2 = library()
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0]
        reason = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise PatternError(f"RE2 cannot read the pattern: {reason}") from None


def found(pattern: str, text: str) -> bool:
    """Whether it stands anywhere in the text; what is no valid Unicode there reads as a question mark."""
    return compiled(pattern).search(text.encode("utf-8", "replace").decode()) is not None


def library() -> Any:
    """google-re2. Raises MissingExtra."""
    try:
        import re2
    except ModuleNotFoundError as error:
        raise MissingExtra(f"patterns need {error.name}, which", "evaluators") from None
    return re2
