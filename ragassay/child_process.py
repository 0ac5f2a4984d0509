"""Python processes of our own that run what may crash or hang: what they are started with, and what their end says."""

from __future__ import annotations

import os
import sys


def import_environment() -> dict[str, str]:
    """This process's environment, with which a Python process finds every module that this one finds."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}


def why_ended(status: int) -> str:
    """What a process's exit status says; a negative one is that of a signal."""
    return f"the process was ended by signal {-status}" if status < 0 else f"the process ended with status {status}"
