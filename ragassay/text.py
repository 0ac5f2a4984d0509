"""Untrusted text made fit to be shown."""

from __future__ import annotations

import re

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def plain(text: str) -> str:
    """`text` with control, escape and direction characters made visible, fit for a terminal or a one-line message."""
    return _UNSAFE.sub(lambda m: f"\\x{ord(m.group()):02x}", text)
