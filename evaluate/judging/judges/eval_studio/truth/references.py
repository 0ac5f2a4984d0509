"""The references of an expected response: each of its lines is one."""

from __future__ import annotations

from ragassay.records import Query

from ....engine.cases import expected_response


def references(query: Query) -> list[str]:
    """The lines of `metadata.expected_response` that are not blank; empty where there is no expected response."""
    return [line.strip() for line in (expected_response(query) or "").splitlines() if line.strip()]
