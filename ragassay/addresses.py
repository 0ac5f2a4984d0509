"""Folders elsewhere, by their addresses. Nothing but the standard library is imported here."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://.", re.IGNORECASE)


@dataclass(frozen=True)
class Address:
    """Where a folder is: `scheme://…`, without a slash at the end."""

    url: str

    def __str__(self) -> str:
        return self.url


def address(text: str) -> Address | None:
    """`text` as an address, None where it is a path."""
    return Address(text.rstrip("/")) if _ADDRESS.match(text) else None
