"""Reading JSON that a model wrote, which may be a bomb."""

from __future__ import annotations

import json
from typing import Any

from ....engine.reply import JudgeFailed


class NotJson(ValueError):
    """The text is not JSON (RFC 8259)."""


def parsed(text: str) -> Any:
    """The value. Raises NotJson; JudgeFailed for what is nested too deep or has a number too long to be read."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise NotJson(f"line {error.lineno} column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise JudgeFailed("the JSON is nested too deep to be read") from None
    except NotJson:
        raise
    except ValueError as error:
        raise JudgeFailed(f"the JSON has a number that cannot be read ({error})") from None


def _refuse(constant: str) -> Any:
    raise NotJson(f"{constant} is no JSON")
