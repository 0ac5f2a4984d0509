"""The references of an expected response: each of its lines is one."""

from __future__ import annotations

from ragassay.records import Query

from ....engine.cases import expected_response
from ....engine.reply import JudgeFailed

MOST = 100


def references(query: Query) -> list[str]:
    """The lines of `metadata.expected_response` that are not blank, each once; empty where there are none.

    Raises JudgeFailed for more than 100 of them.
    """
    lines = (expected_response(query) or "").splitlines()
    found = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if len(found) > MOST:
        raise JudgeFailed(f"no value: the expected response has {len(found):,} lines, and at most {MOST} are compared")
    return found
