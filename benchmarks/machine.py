"""The machine that figures were taken on."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def machine() -> str:
    """Processor, cores and version, in one line."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if "model name" in line] or [platform.machine()]
    return f"{names[0]}, {os.cpu_count()} cores, Python {platform.python_version()}"
