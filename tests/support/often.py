"""How often a test tries what is drawn at random: in full where CI runs it, and a quarter of that beside one's work."""

from __future__ import annotations

import os

CI = bool(os.environ.get("CI"))


def often(times: int) -> int:
    return times if CI else max(1, times // 4)
