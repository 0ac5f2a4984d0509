"""Keys and passwords in what others say, blanked before it is shown or kept."""

from __future__ import annotations

import os
import re
from typing import Any

MODEL_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "COHERE_API_KEY", "JINA_API_KEY", "RERANK_API_KEY")
"""The variables whose values are sent to models' servers."""

_BLANK = "…"
_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)$", re.IGNORECASE)
_SHORTEST = 8
_VALUE = r"""[^\s"'&,;<>(){}\[\]…]{6,}"""
_LOOKS = (
    # what a key begins with: OpenAI and Anthropic, Hugging Face, Groq, GitHub, xAI, Perplexity, AWS, Google; JWT
    re.compile(
        r"\b(?:sk-(?=[\w-]*\d)[\w-]{12,}|(?:hf|gsk|gh[pousr]|xai|pplx|nvapi)[-_][\w-]{16,}|AKIA[0-9A-Z]{16}"
        r"|AIza[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]+)?)"
    ),
)
_NAMED = (
    re.compile(rf"(\b(?:Bearer|Basic)\s+){_VALUE}", re.IGNORECASE),
    re.compile(
        rf"""(\b(?:x-)?(?:api[-_]?key|(?:access|auth|refresh|session|security)[-_]?token|client[-_]?secret|
        secret[-_]?(?:access[-_]?)?key)["']?\s*[:=]\s*["']?){_VALUE}""",
        re.IGNORECASE | re.VERBOSE,
    ),
    re.compile(rf"(\b(?:key|token|sig|signature|secret|password|passwd)=){_VALUE}", re.IGNORECASE),
    re.compile(r"(://[^/@:\s]*:)[^@\s/]+(?=@)"),
)


def without_keys(text: str) -> str:
    """`text` with "…" for what looks like a key, a token or a password, and for those of this process's environment."""
    for value in _of_the_environment():
        text = text.replace(value, _BLANK)
    for look in _LOOKS:
        text = look.sub(_BLANK, text)
    for named in _NAMED:
        text = named.sub(rf"\1{_BLANK}", text)
    return text


def without_own_keys(value: Any) -> Any:
    """A JSON value with "…" for the keys that we send to models' servers, wherever they stand in its texts.

    Nothing else is blanked: a reply may speak of what looks like a key.
    """
    keys = {os.environ.get(name, "") for name in MODEL_KEYS}
    own = sorted((key for key in keys if len(key) >= _SHORTEST), key=len, reverse=True)
    return _blanked(value, own) if own else value


def _blanked(value: Any, own: list[str]) -> Any:
    if isinstance(value, str):
        for key in own:
            value = value.replace(key, _BLANK)
        return value
    if isinstance(value, list):
        return [_blanked(one, own) for one in value]
    if isinstance(value, dict):
        return {_blanked(name, own): _blanked(one, own) for name, one in value.items()}
    return value


def _of_the_environment() -> list[str]:
    """The values of variables that are named as keys are, the longest first."""
    values = {value for name, value in os.environ.items() if _NAME.search(name) and len(value) >= _SHORTEST}
    return sorted(values, key=len, reverse=True)
