"""Folders and servers elsewhere, by their addresses. Nothing but the standard library is imported here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://.", re.IGNORECASE)
_PASSWORD = re.compile(r"://([^/@:\s]*):[^@\s]*@")


@dataclass(frozen=True)
class Address:
    """Where a folder is: `scheme://…`, without a slash at the end. As text, without the password that it may hold."""

    url: str

    def __str__(self) -> str:
        return without_passwords(self.url)


def address(text: str) -> Address | None:
    """`text` as an address, None where it is a path."""
    return Address(text.rstrip("/")) if _ADDRESS.match(text) else None


def without_passwords(text: str) -> str:
    """`text`, which may be an address or hold some, to be shown: `ftp://me:…@host/folder`."""
    return _PASSWORD.sub(r"://\1:…@", text)


def tells(url: str) -> str | None:
    """What in the address of a server may be a secret and would come into records and errors, None without any."""
    if "@" in url:
        return "a login"
    return 'a query ("?…"), which may be a key' if "?" in url or "#" in url else None


def is_server(text: str) -> bool:
    """Whether `text` is the address of an HTTP server: a scheme, a host, and a port in range if there is one."""
    try:
        parts = urlsplit(text)
        whole = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return whole and text.isprintable() and " " not in text
